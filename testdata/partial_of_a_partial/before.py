import functools

import jax
import jax.numpy as jnp
import numpy as np


def _line(slope, offset, x):
    return np.asarray(x) * np.float32(slope) + np.float32(offset)


_double = functools.partial(_line, 2)


def main():
    x = jnp.arange(2.0)
    spec = jax.ShapeDtypeStruct(x.shape, x.dtype)
    print(jax.pure_callback(functools.partial(_double, 1), spec, x).tolist())
