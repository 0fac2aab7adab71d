import functools

import bufcb
import jax
import jax.numpy as jnp
import numpy as np


def _mix(a, b, x):
    return np.asarray(x) * np.asarray(a) + np.asarray(b)


def main():
    x = jnp.arange(2.0)
    spec = jax.ShapeDtypeStruct(x.shape, x.dtype)
    print(bufcb.buffer_callback(
        bufcb.adapt(functools.partial(_mix, np.float32(2), np.float32(1)), arrays="jax"), spec
    )(x).tolist())
    print(bufcb.buffer_callback(bufcb.adapt(functools.partial(_mix, np.float32(2)), arrays="jax"), spec)(x, x).tolist())
