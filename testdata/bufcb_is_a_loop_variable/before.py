import jax
import jax.numpy as jnp
import numpy as np


def run(x):
    def host(v):
        return np.square(v)

    return jax.pure_callback(host, jax.ShapeDtypeStruct(x.shape, x.dtype), x)


def main():
    print(run(jnp.arange(3.0)).tolist())
    for bufcb in range(2):
        print(bufcb)
