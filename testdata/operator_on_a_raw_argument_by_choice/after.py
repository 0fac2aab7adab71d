import bufcb
import jax
import jax.numpy as jnp
import numpy as np


def _half(ctx, out, x):
    x = np.asarray(x)
    out[...] = np.asarray(x // 2)
    return


def main():
    x = jnp.array([5, -5])
    print(bufcb.buffer_callback(_half, jax.ShapeDtypeStruct(x.shape, x.dtype))(x).tolist())
