import jax
import jax.numpy as jnp
import numpy as np


def run(x):
    def host(v):
        return np.square(v)

    check = host(np.float32(2))
    y = jax.pure_callback(host, jax.ShapeDtypeStruct(x.shape, x.dtype), x)
    return y, float(check)


def main():
    print(run(jnp.arange(3.0))[0].tolist())
