import jax
import jax.numpy as jnp
import numpy as np


class A:
    def _host(self, x):
        return np.square(x)

    def run(self, other, x):
        s = jax.ShapeDtypeStruct(x.shape, x.dtype)
        return jax.pure_callback(other._host, s, x) + jax.pure_callback(self._host, s, x)


class B:
    def _host(self, x):
        return np.negative(x)


def main():
    print(A().run(B(), jnp.arange(2.0)).tolist())
