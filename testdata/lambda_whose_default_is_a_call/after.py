import bufcb
import jax
import jax.numpy as jnp
import numpy as np


def scaled(x, rows):
    spec = jax.ShapeDtypeStruct(x.shape, x.dtype)
    return bufcb.buffer_callback(
        bufcb.adapt(lambda v, s=np.float32(len(rows)): np.multiply(v, s), arrays="jax"), spec
    )(x)


def main():
    print(scaled(jnp.arange(3.0), [1, 2]).tolist())
