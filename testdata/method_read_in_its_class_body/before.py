import jax
import jax.numpy as jnp
import numpy as np


class A:
    def _host(self, x):
        return np.square(x)

    table = {"host": _host}

    def run(self, x):
        return jax.pure_callback(self._host, jax.ShapeDtypeStruct(x.shape, x.dtype), x), self.table["host"](self, 3)


def main():
    print(A().run(jnp.arange(2.0))[0].tolist())
