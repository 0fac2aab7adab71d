import jax
import jax.numpy as jnp
import numpy as np


def main():
    x = jnp.zeros(2)

    def host(v):
        return np.sin(v)

    y = jax.pure_callback(host, jax.ShapeDtypeStruct(x.shape, x.dtype), x)
    del host
    print(y.tolist())
