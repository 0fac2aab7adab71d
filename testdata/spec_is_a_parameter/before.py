import jax
import jax.numpy as jnp
import numpy as np


def host_square(spec, x):
    def square(values):
        return np.square(values)

    return jax.pure_callback(square, spec, x)


def main():
    x = jnp.arange(3.0)
    print(host_square(jax.ShapeDtypeStruct(x.shape, x.dtype), x).tolist())
