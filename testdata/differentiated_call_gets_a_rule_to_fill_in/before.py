import jax
import jax.numpy as jnp
import numpy as np


def _smooth(x):
    return np.convolve(np.asarray(x), [0.25, 0.5, 0.25], mode="same")


def loss(params, x):
    return jnp.sum(params * jax.pure_callback(_smooth, jax.ShapeDtypeStruct(x.shape, x.dtype), x))


step = jax.value_and_grad(loss, argnums=(0, 1))


def main():
    print(loss(jnp.ones(3), jnp.arange(3.0)))
