import bufcb
import jax
import jax.numpy as jnp
import numpy as np


@jax.jit
def double(x):
    return x * 2


def _weights():
    return np.asarray(jnp.linspace(0.0, 1.0, 3))


def _doubled(x):
    return np.asarray(double(np.asarray(x)))


def _weighted(x):
    return np.asarray(x) * _weights()


def main():
    x = jnp.arange(3.0)
    spec = jax.ShapeDtypeStruct(x.shape, x.dtype)
    print(bufcb.buffer_callback(bufcb.adapt(_doubled, arrays="jax"), spec)(x))
    print(bufcb.buffer_callback(bufcb.adapt(_weighted, arrays="jax"), spec)(x))
