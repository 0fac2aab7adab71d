import functools

import bufcb
import jax
import jax.numpy as jnp
import numpy as np


def _window(size, ctx, out, x):
    x = np.asarray(x)
    out[...] = np.convolve(x, np.full(size, np.float32(1) / np.float32(size)), mode="same")
    return


def smooth(x, size):
    host = functools.partial(_window, size)
    spec = jax.ShapeDtypeStruct(x.shape, x.dtype)
    return bufcb.buffer_callback(host, spec)(x) + bufcb.buffer_callback(host, spec)(jnp.flip(x))


def main():
    print(smooth(jnp.arange(4.0), 2).tolist())
