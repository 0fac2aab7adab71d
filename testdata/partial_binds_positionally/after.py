import functools

import bufcb
import jax
import jax.numpy as jnp
import numpy as np


def _banded(width, ctx, out, x, *, fill):
    x = np.array(x)
    x[width:] = fill
    out[...] = x
    return


def banded(x):
    spec = jax.ShapeDtypeStruct(x.shape, x.dtype)
    return bufcb.buffer_callback(functools.partial(_banded, 3, fill=0.0), spec)(x)


def main():
    print(banded(jnp.arange(1.0, 6.0)).tolist())
