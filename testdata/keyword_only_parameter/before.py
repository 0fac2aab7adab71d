import jax
import jax.numpy as jnp
import numpy as np


def _moving(x, *, kernel):
    return np.convolve(x, kernel, mode="same")


def moving(x, kernel):
    return jax.pure_callback(_moving, jax.ShapeDtypeStruct(x.shape, x.dtype), x, kernel=kernel)


def main():
    print(moving(jnp.arange(5.0), jnp.full(2, 0.5)).tolist())
