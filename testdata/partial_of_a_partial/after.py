import functools

import bufcb
import jax
import jax.numpy as jnp
import numpy as np


def _line(slope, offset, ctx, out, x):
    out[...] = np.asarray(x) * np.float32(slope) + np.float32(offset)
    return


_double = functools.partial(_line, 2)


def main():
    x = jnp.arange(2.0)
    spec = jax.ShapeDtypeStruct(x.shape, x.dtype)
    print(bufcb.buffer_callback(functools.partial(_double, 1), spec)(x).tolist())
