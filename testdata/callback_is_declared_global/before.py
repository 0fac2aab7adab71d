import jax
import jax.numpy as jnp
import numpy as np


def define():
    global _host

    def _host(x):
        return np.sin(x)


def main():
    define()
    x = jnp.zeros(2)
    print(jax.pure_callback(_host, jax.ShapeDtypeStruct(x.shape, x.dtype), x).tolist())
