import bufcb
import jax
import jax.numpy as jnp
import numpy as np


def _host(x):
    return np.asarray(x + 1)


def _neg(x):
    return np.asarray(-x)


def _unsigned(x):
    return np.asarray(x - 3)


def main():
    b = jnp.array([True, False])
    print(bufcb.buffer_callback(bufcb.adapt(_host, arrays="jax"), jax.ShapeDtypeStruct((2,), jnp.int32))(b).tolist())
    print(bufcb.buffer_callback(
        bufcb.adapt(_neg, arrays="jax"), jax.ShapeDtypeStruct((2,), jnp.uint8)
    )(jnp.array([1, 2], jnp.uint8)).tolist())
    print(bufcb.buffer_callback(
        bufcb.adapt(_unsigned, arrays="jax"), jax.ShapeDtypeStruct((2,), jnp.uint8)
    )(jnp.array([1, 2], jnp.uint8)).tolist())
    print(bufcb.buffer_callback(
        bufcb.adapt(_unsigned, arrays="jax"), jax.ShapeDtypeStruct((), jnp.uint8)
    )(jnp.uint8(1)).tolist())
    print(bufcb.buffer_callback(
        bufcb.adapt(_host, arrays="jax"), jax.ShapeDtypeStruct((), jnp.int32)
    )(jnp.int32(2**31 - 1)).tolist())
    print(bufcb.buffer_callback(
        bufcb.adapt(_host, arrays="jax"), jax.ShapeDtypeStruct((2,), jnp.int8)
    )(jnp.array([127, 1], jnp.int8)).tolist())
