import bufcb
import jax
import jax.numpy as jnp
import numpy as np


class Backend:
    def __init__(self, module):
        self._jax = module

    def _host(self, ctx, out, x):
        x = np.asarray(x)
        out[...] = np.negative(x)
        return

    def negative(self, x):
        return bufcb.buffer_callback(self._host, jax.ShapeDtypeStruct(x.shape, x.dtype))(x)


def main():
    print(Backend(jax).negative(jnp.arange(3.0)).tolist())
