import jax
import jax.numpy as jnp
import numpy as np


def _smooth(x):
    return np.convolve(np.asarray(x), [0.25, 0.5, 0.25], mode="same")


def residual(x, y):
    left = jax.pure_callback(_smooth, jax.ShapeDtypeStruct(x.shape, x.dtype), x)
    right = jax.pure_callback(_smooth, jax.ShapeDtypeStruct(y.shape, y.dtype), y)
    return jnp.sum(left) - jnp.sum(right)


gradient = jax.grad(residual, argnums=(0, 1))


def main():
    print(residual(jnp.arange(3.0), jnp.ones(4)))
