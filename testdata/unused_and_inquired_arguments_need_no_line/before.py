import jax
import jax.numpy as jnp
import numpy as np


def _grid(x, _unused, like):
    steps, columns = x.shape
    return np.zeros((steps, columns), like.dtype) + np.float32(x.ndim)


def main():
    x = jnp.ones((2, 3))
    print(jax.pure_callback(_grid, jax.ShapeDtypeStruct(x.shape, x.dtype), x, x, x).tolist())
