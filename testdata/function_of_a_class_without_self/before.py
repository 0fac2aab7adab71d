import jax
import jax.numpy as jnp
import numpy as np


class Kernels:
    def _sine(x):
        return np.sin(x)

    @classmethod
    def apply(cls, x):
        return jax.pure_callback(cls._sine, jax.ShapeDtypeStruct(x.shape, x.dtype), x)


def main():
    x = jnp.zeros(2)
    print(Kernels.apply(x).tolist())
    print(jax.pure_callback(Kernels._sine, jax.ShapeDtypeStruct(x.shape, x.dtype), x).tolist())
