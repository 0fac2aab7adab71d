import bufcb
import jax
import jax.numpy as jnp
import numpy as np


def _moving(ctx, out, x, *, kernel):
    x, kernel = np.asarray(x), np.asarray(kernel)
    out[...] = np.convolve(x, kernel, mode="same")
    return


def moving(x, kernel):
    return bufcb.buffer_callback(_moving, jax.ShapeDtypeStruct(x.shape, x.dtype))(x, kernel=kernel)


def main():
    print(moving(jnp.arange(5.0), jnp.full(2, 0.5)).tolist())
