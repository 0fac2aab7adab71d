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

    def run(self, x):
        return bufcb.buffer_callback(self._host_into, jax.ShapeDtypeStruct(x.shape, x.dtype))(x)


class B:
    def _host(self, x):
        return np.negative(x)

    def run(self, x):
        return self._host(x)


def main():
    print(A().run(jnp.arange(2.0)).tolist(), B().run(np.arange(2.0)).tolist())
