import jax
import jax.numpy as jnp
import numpy as np


def _smooth(x):
    return np.convolve(np.asarray(x), [0.25, 0.5, 0.25], mode="same")


def loss(x):
    return jnp.sum(jax.pure_callback(_smooth, jax.ShapeDtypeStruct(x.shape, x.dtype), x) ** 2)


def main():
    print(np.round(jax.grad(loss)(jnp.arange(3.0)), 2))
