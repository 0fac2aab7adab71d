import jax
import jax.numpy as jnp
import numpy as np


class A:
    def _host(self, x):
        return np.square(x)

    def run(self, x):
        return jax.pure_callback(self._host, jax.ShapeDtypeStruct(x.shape, x.dtype), x)


class B:
    def _host(self, x):
        return np.negative(x)

    def run(self, x):
        return self._host(x)


def main():
    print(A().run(jnp.arange(2.0)).tolist(), B().run(np.arange(2.0)).tolist())
