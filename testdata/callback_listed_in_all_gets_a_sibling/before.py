import jax
import jax.numpy as jnp
import numpy as np

__all__ = ["_square"]


def _square(x):
    return np.square(x)


def main():
    x = jnp.arange(3.0)
    print(jax.pure_callback(_square, jax.ShapeDtypeStruct(x.shape, x.dtype), x).tolist())
