import jax
import jax.numpy as jnp
import numpy as np


def main():
    x = jnp.zeros(2)
    if (host := lambda v: np.sin(v)) is not None:
        print(jax.pure_callback(host, jax.ShapeDtypeStruct(x.shape, x.dtype), x).tolist())
