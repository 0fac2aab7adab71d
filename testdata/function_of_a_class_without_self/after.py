import bufcb
import jax
import jax.numpy as jnp
import numpy as np


class Kernels:
    def _sine(ctx, out, x):
        x = np.asarray(x)
        out[...] = np.sin(x)
        return

    @classmethod
    def apply(cls, x):
        return bufcb.buffer_callback(cls._sine, jax.ShapeDtypeStruct(x.shape, x.dtype))(x)


def main():
    x = jnp.zeros(2)
    print(Kernels.apply(x).tolist())
    print(bufcb.buffer_callback(Kernels._sine, jax.ShapeDtypeStruct(x.shape, x.dtype))(x).tolist())
