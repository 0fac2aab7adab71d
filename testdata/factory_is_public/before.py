import jax
import jax.numpy as jnp
import numpy as np


def power(exponent):
    def host(x):
        return np.power(x, np.float32(exponent))

    return host


def main():
    x = jnp.arange(3.0)
    print(jax.pure_callback(power(3), jax.ShapeDtypeStruct(x.shape, x.dtype), x).tolist())
