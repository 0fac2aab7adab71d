import jax
import jax.numpy as jnp
import numpy as np


def main():
    x = jnp.zeros(2)
    match {"host": np.sin}:
        case {"host": host}:
            print(jax.pure_callback(host, jax.ShapeDtypeStruct(x.shape, x.dtype), x).tolist())
