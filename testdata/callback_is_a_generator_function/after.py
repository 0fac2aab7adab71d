import bufcb
import jax
import jax.numpy as jnp
import numpy as np


def _numbers(n):
    yield np.float32(n)


def main():
    try:
        print(bufcb.buffer_callback(
            bufcb.adapt(_numbers, arrays="jax"), jax.ShapeDtypeStruct((), jnp.float32)
        )(jnp.float32(2)))
    except Exception as error:
        print("TypeError" in str(error))
