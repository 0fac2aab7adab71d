from functools import partial

import bufcb
import jax
import jax.numpy as jnp
import numpy as np


def _rotate(ctx, out, values, shift, axis):
    values = np.asarray(values)
    out[...] = np.roll(values, shift, axis=axis)
    return


def rotate(values):
    spec = jax.ShapeDtypeStruct(values.shape, values.dtype)
    return bufcb.buffer_callback(partial(_rotate, shift=1, axis=0), spec)(values)


def main():
    print(rotate(jnp.arange(4.0)).tolist())
