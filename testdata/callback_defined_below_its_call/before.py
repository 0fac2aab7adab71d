import jax
import jax.numpy as jnp
import numpy as np


def main():
    x = jnp.arange(2.0)
    print(jax.pure_callback(_below, jax.ShapeDtypeStruct(x.shape, x.dtype), x).tolist())


def _below(x):
    return np.square(x)
