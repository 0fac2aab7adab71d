import bufcb
import jax
import jax.numpy as jnp
import numpy as np


class A:
    def _host(self, x):
        return np.square(x)

    def _host_into(self, ctx, out, x):
        out[...] = self._host(np.asarray(x))
        return

    table = {"host": _host}

    def run(self, x):
        return bufcb.buffer_callback(self._host_into, jax.ShapeDtypeStruct(x.shape, x.dtype))(x), self.table["host"](self, 3)


def main():
    print(A().run(jnp.arange(2.0))[0].tolist())
