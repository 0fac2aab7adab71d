import bufcb
import jax
import jax.numpy as jnp
import numpy as np


class A:
    def _host(self, ctx, out, x):
        x = np.asarray(x)
        out[...] = np.square(x)
        return


class B(A):
    def run(self, x):
        s = jax.ShapeDtypeStruct(x.shape, x.dtype)
        return bufcb.buffer_callback(super()._host, s)(x) + bufcb.buffer_callback(self._host, s)(x)


def main():
    print(B().run(jnp.arange(2.0)).tolist())
