import jax
import jax.numpy as jnp
import numpy as np


def square(x):
    return np.square(x)


def _square_into(target, x):
    target[:] = square(x)


def main():
    x = jnp.arange(3.0)
    print(jax.pure_callback(square, jax.ShapeDtypeStruct(x.shape, x.dtype), x).tolist())
