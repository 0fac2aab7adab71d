import jax
import jax.numpy as jnp
import numpy as np


class A:
    def run(self, x):
        def host(v):
            text = """
no indent
   some"""
            if len(text) == 0:
                return np.negative(v)
            return np.square(v) + np.float32(len("""
x"""))

        return jax.pure_callback(host, jax.ShapeDtypeStruct(x.shape, x.dtype), x)


def main():
    print(A().run(jnp.arange(3.0)).tolist())
