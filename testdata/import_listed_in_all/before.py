from jax import ShapeDtypeStruct, pure_callback
import jax.numpy as jnp
import numpy as np

__all__ = ["pure_callback", "square"]


def _host(x):
    return np.square(x)


def square(x):
    return pure_callback(_host, ShapeDtypeStruct(x.shape, x.dtype), x)


def main():
    print(square(jnp.arange(3.0)).tolist())
