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

    def run(self, other, x):
        s = jax.ShapeDtypeStruct(x.shape, x.dtype)
        return bufcb.buffer_callback(bufcb.adapt(other._host, arrays="jax"), s)(x) + bufcb.buffer_callback(self._host_into, s)(x)


class B:
    def _host(self, x):
        return np.negative(x)


def main():
    print(A().run(B(), jnp.arange(2.0)).tolist())
