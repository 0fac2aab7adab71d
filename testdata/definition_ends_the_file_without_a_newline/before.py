import jax
import jax.numpy as jnp
import numpy as np


def main():
    x = jnp.arange(2.0)
    print(jax.pure_callback(_square, jax.ShapeDtypeStruct(x.shape, x.dtype), x).tolist())


def _square(x):
    return np.square(x)