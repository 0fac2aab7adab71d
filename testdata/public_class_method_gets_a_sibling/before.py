import jax
import jax.numpy as jnp
import numpy as np


class A:
    k = 2.0

    @classmethod
    def host(cls, x):
        return np.multiply(x, np.float32(cls.k))

    def run(self, x):
        return jax.pure_callback(self.host, jax.ShapeDtypeStruct(x.shape, x.dtype), x) + jax.pure_callback(A.host, jax.ShapeDtypeStruct(x.shape, x.dtype), x)


class B(A):
    k = 3.0


def main():
    print(A().run(jnp.arange(3.0)).tolist(), B().run(jnp.arange(3.0)).tolist())
