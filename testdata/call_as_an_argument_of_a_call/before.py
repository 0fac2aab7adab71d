import jax
import jax.numpy as jnp
import numpy as np


def _square(x):
    return np.square(x)


def main():
    x = jnp.arange(3.0)
    spec = jax.ShapeDtypeStruct(x.shape, x.dtype)
    print(jax.pure_callback(_square, spec, jax.pure_callback(lambda v: np.negative(v), spec, x)).tolist())
