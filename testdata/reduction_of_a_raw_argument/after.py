import bufcb
import jax
import jax.numpy as jnp
import numpy as np


def _total(x):
    return np.asarray(np.sum(x))


def _middle(x):
    return np.asarray(x.mean())


def main():
    x = jnp.arange(4.0)
    spec = jax.ShapeDtypeStruct((), jnp.float32)
    print(float(bufcb.buffer_callback(
        bufcb.adapt(_total, arrays="jax"), spec
    )(x)), float(bufcb.buffer_callback(
        bufcb.adapt(_middle, arrays="jax"), spec
    )(x)))
