import jax
import jax.numpy as jnp
import numpy as np


class A:
    def __host(self, x):
        return np.square(x)

    def run(self, x):
        return jax.pure_callback(self.__host, jax.ShapeDtypeStruct(x.shape, x.dtype), x)


def main():
    print(A().run(jnp.arange(3.0)).tolist())
