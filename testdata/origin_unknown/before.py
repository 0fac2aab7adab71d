import jax
import jax.numpy as jnp
import numpy as np


class Backend:
    def __init__(self, module):
        self._jax = module

    def negative(self, x):
        return self._jax.pure_callback(np.negative, jax.ShapeDtypeStruct(x.shape, x.dtype), x)


def main():
    print(Backend(jax).negative(jnp.arange(3.0)).tolist())
