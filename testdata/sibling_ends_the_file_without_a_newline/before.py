import jax
import jax.numpy as jnp
import numpy as np


def main():
    x = jnp.arange(2.0)
    print(jax.pure_callback(square, jax.ShapeDtypeStruct(x.shape, x.dtype), x).tolist())


def square(x):
    return np.square(x)