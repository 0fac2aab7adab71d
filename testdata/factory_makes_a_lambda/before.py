import jax
import jax.numpy as jnp
import numpy as np


def _power(exponent):
    return lambda x: np.power(x, np.float32(exponent))


def main():
    x = jnp.arange(3.0)
    cube = _power(3)
    print(jax.pure_callback(cube, jax.ShapeDtypeStruct(x.shape, x.dtype), x).tolist())
