import jax
import jax.numpy as jnp
import numpy as np


def main():
    x = jnp.eye(2)
    print(jax.pure_callback(np.linalg.inv, jax.ShapeDtypeStruct(x.shape, x.dtype), x).tolist())
