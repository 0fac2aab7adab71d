import jax
import jax.numpy as jnp
import numpy as np


def counted(x):
    calls = 0

    def host(v):
        nonlocal calls
        calls += 1
        return np.sin(v)

    y = jax.pure_callback(host, jax.ShapeDtypeStruct(x.shape, x.dtype), x)
    return y.tolist(), calls


def main():
    print(counted(jnp.zeros(2)))
