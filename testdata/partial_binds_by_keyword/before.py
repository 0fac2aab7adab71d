from functools import partial

import jax
import jax.numpy as jnp
import numpy as np


def _rotate(values, shift, axis):
    return np.roll(values, shift, axis=axis)


def rotate(values):
    spec = jax.ShapeDtypeStruct(values.shape, values.dtype)
    return jax.pure_callback(partial(_rotate, shift=1, axis=0), spec, values)


def main():
    print(rotate(jnp.arange(4.0)).tolist())
