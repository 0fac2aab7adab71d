import bufcb
import jax
import jax.numpy as jnp
import numpy as np


def _weighted(x, weights=np.ones(2, np.float32)):
    return np.multiply(x, weights)


def main():
    x = jnp.arange(2.0)
    spec = jax.ShapeDtypeStruct((2,), jnp.float32)
    print(bufcb.buffer_callback(
        bufcb.adapt(_weighted, arrays="jax"), spec
    )(x).tolist(), bufcb.buffer_callback(
        bufcb.adapt(_weighted, arrays="jax"), spec
    )(x, x).tolist())
