import functools

import jax
import jax.numpy as jnp
import numpy as np


def _banded(width, x, *, fill):
    x = np.array(x)
    x[width:] = fill
    return x


def banded(x):
    spec = jax.ShapeDtypeStruct(x.shape, x.dtype)
    return jax.pure_callback(functools.partial(_banded, 3, fill=0.0), spec, x)


def main():
    print(banded(jnp.arange(1.0, 6.0)).tolist())
