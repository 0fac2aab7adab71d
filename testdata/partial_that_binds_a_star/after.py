import functools

import bufcb
import jax
import jax.numpy as jnp
import numpy as np


def _affine(slope, offset, x):
    return np.asarray(x) * np.float32(slope) + np.float32(offset)


def affine(line, x):
    spec = jax.ShapeDtypeStruct(x.shape, x.dtype)
    return bufcb.buffer_callback(
        bufcb.adapt(functools.partial(_affine, *line), arrays="jax"), spec
    )(x)


def main():
    print(affine((2, 1), jnp.arange(2.0)).tolist())
