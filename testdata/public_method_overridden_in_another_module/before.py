import jax
import jax.numpy as jnp
import numpy as np


class A:
    def host(self, x):
        return np.multiply(x, np.float32(2))

    def run(self, x):
        return jax.pure_callback(self.host, jax.ShapeDtypeStruct(x.shape, x.dtype), x)


def main():
    import other

    print(A().run(jnp.arange(3.0)).tolist(), other.B().run(jnp.arange(3.0)).tolist())
