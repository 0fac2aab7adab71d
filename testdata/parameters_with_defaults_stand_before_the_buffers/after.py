import functools

import bufcb
import jax
import jax.numpy as jnp
import numpy as np


def _clip(low=0.0, x=None):
    return np.maximum(np.asarray(x), np.float32(low))


def main():
    x = jnp.array([-1.0, 2.0])
    spec = jax.ShapeDtypeStruct(x.shape, x.dtype)
    print(bufcb.buffer_callback(bufcb.adapt(functools.partial(_clip, 0.5), arrays="jax"), spec)(x).tolist())
