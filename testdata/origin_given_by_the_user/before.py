import jax
import jax.numpy as jnp
import numpy as np


class Backend:
    def __init__(self, module):
        self._jax = module

    def _host(self, x):
        return np.negative(x)

    def negative(self, x):
        return self._jax.pure_callback(self._host, jax.ShapeDtypeStruct(x.shape, x.dtype), x)


def main():
    print(Backend(jax).negative(jnp.arange(3.0)).tolist())
