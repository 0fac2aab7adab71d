import bufcb
import jax
import jax.numpy as jnp
import numpy as np


class A:
    def __host(self, x):
        return np.square(x)

    def _host_into(self, ctx, out, x):
        out[...] = self.__host(np.asarray(x))
        return

    def run(self, x):
        return bufcb.buffer_callback(self._host_into, jax.ShapeDtypeStruct(x.shape, x.dtype))(x)


def main():
    print(A().run(jnp.arange(3.0)).tolist())
