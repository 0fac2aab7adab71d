import bufcb
import jax
import jax.numpy as jnp
import numpy as np


class A:
    def _host(self, x):
        return np.square(x)


class B(A):
    def run(self, x):
        s = jax.ShapeDtypeStruct(x.shape, x.dtype)
        return bufcb.buffer_callback(
            bufcb.adapt(super()._host, arrays="jax"), s
        )(x) + bufcb.buffer_callback(
            bufcb.adapt(self._host, arrays="jax"), s
        )(x)


def main():
    print(B().run(jnp.arange(2.0)).tolist())
