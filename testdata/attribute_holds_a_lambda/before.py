import jax
import jax.numpy as jnp
import numpy as np


class Power:
    def __init__(self, exponent):
        self._host = lambda x: np.power(x, np.float32(exponent))

    def __call__(self, x):
        return jax.pure_callback(self._host, jax.ShapeDtypeStruct(x.shape, x.dtype), x)


def main():
    print(Power(3)(jnp.arange(3.0)).tolist())
