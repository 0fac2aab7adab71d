import bufcb
import jax
import jax.numpy as jnp
import numpy as np


class Sine:
    def _host(self, x):
        return np.sin(x)


class Cosine(Sine):
    def _host(self, x):
        return np.cos(x)

    def _host_into(self, ctx, out, x):
        out[...] = self._host(np.asarray(x))
        return

    def __call__(self, x):
        spec = jax.ShapeDtypeStruct(x.shape, x.dtype)
        return bufcb.buffer_callback(
            bufcb.adapt(super()._host, arrays="jax"), spec
        )(x) + bufcb.buffer_callback(self._host_into, spec)(x)


def main():
    print(Cosine()(jnp.zeros(2)).tolist())
