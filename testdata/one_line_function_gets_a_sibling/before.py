import jax
import jax.numpy as jnp
import numpy as np


def square(x): return np.square(x)  # noqa: E704
def cube(x): return np.power(x, 3)  # noqa: E302,E704


def main():
    x = jnp.arange(3.0)
    spec = jax.ShapeDtypeStruct(x.shape, x.dtype)
    print(jax.pure_callback(square, spec, x).tolist(), jax.pure_callback(cube, spec, x).tolist())
