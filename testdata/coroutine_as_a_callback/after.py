import bufcb
import jax
import jax.numpy as jnp
import numpy as np


async def _later(x):
    return np.asarray(x)


def main():
    x = jnp.arange(2.0)
    try:
        print(bufcb.buffer_callback(bufcb.adapt(_later, arrays="jax"), jax.ShapeDtypeStruct(x.shape, x.dtype))(x))
    except Exception as error:
        print("TypeError" in str(error))
