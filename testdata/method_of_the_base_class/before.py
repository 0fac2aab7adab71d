import jax
import jax.numpy as jnp
import numpy as np


class A:
    def _host(self, x):
        return np.square(x)


class B(A):
    def run(self, x):
        s = jax.ShapeDtypeStruct(x.shape, x.dtype)
        return jax.pure_callback(super()._host, s, x) + jax.pure_callback(self._host, s, x)


def main():
    print(B().run(jnp.arange(2.0)).tolist())
