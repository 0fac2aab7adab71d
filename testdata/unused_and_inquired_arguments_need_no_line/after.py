import bufcb
import jax
import jax.numpy as jnp
import numpy as np


def _grid(ctx, out, x, _unused, like):
    steps, columns = x.shape
    out[...] = np.zeros((steps, columns), like.dtype) + np.float32(x.ndim)
    return


def main():
    x = jnp.ones((2, 3))
    print(bufcb.buffer_callback(_grid, jax.ShapeDtypeStruct(x.shape, x.dtype))(x, x, x).tolist())
