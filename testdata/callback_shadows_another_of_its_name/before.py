import jax
import jax.numpy as jnp
import numpy as np


def host(x):
    return np.cos(x)


def run(x):
    def host(x):
        return np.sin(x)

    return jax.pure_callback(host, jax.ShapeDtypeStruct(x.shape, x.dtype), x)


def main():
    x = jnp.zeros(2)
    print(run(x).tolist(), host(0.0))
