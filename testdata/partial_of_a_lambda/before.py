import functools

import jax
import jax.numpy as jnp
import numpy as np


def power(x, exponent):
    return jax.pure_callback(
        functools.partial(lambda n, v: np.power(v, np.float32(n)), exponent),
        jax.ShapeDtypeStruct(x.shape, x.dtype),
        x,
    )


def main():
    print(power(jnp.arange(3.0), 3).tolist())
