import functools

import bufcb
import jax
import jax.numpy as jnp
import numpy as np


def traced(function):
    @functools.wraps(function)
    def wrapper(*args):
        print(len(args))
        return function(*args)

    return wrapper


@traced
def _sine(x):
    return np.sin(x)


def main():
    x = jnp.zeros(2)
    print(bufcb.buffer_callback(bufcb.adapt(_sine, arrays="jax"), jax.ShapeDtypeStruct(x.shape, x.dtype))(x).tolist())
