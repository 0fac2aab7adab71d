import bufcb
import jax
import jax.numpy as jnp
import numpy as np


class A:
    k = 2.0

    @classmethod
    def host(cls, x):
        return np.multiply(x, np.float32(cls.k))

    @classmethod
    def _host_into(cls, ctx, out, x):
        out[...] = cls.host(np.asarray(x))
        return

    def run(self, x):
        return bufcb.buffer_callback(self._host_into, jax.ShapeDtypeStruct(x.shape, x.dtype))(x) + bufcb.buffer_callback(A._host_into, jax.ShapeDtypeStruct(x.shape, x.dtype))(x)


class B(A):
    k = 3.0


def main():
    print(A().run(jnp.arange(3.0)).tolist(), B().run(jnp.arange(3.0)).tolist())
