import bufcb
import jax
import jax.numpy as jnp
import numpy as np


def host_map(f, x):
    return bufcb.buffer_callback(
        bufcb.adapt(f, arrays="jax"), jax.ShapeDtypeStruct(x.shape, x.dtype)
    )(x)


def main():
    print(host_map(lambda v: np.asarray(v) + np.float32(1), jnp.arange(2.0)).tolist())
