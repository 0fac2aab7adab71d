import functools

import jax
import jax.numpy as jnp
import numpy as np


def _mix(a, b, x):
    return np.asarray(x) * np.asarray(a) + np.asarray(b)


def main():
    x = jnp.arange(2.0)
    spec = jax.ShapeDtypeStruct(x.shape, x.dtype)
    print(jax.pure_callback(functools.partial(_mix, np.float32(2), np.float32(1)), spec, x).tolist())
    print(jax.pure_callback(functools.partial(_mix, np.float32(2)), spec, x, x).tolist())
