import jax
import jax.numpy as jnp
import numpy as np


def _noise(x):
    return np.random.default_rng(0).normal(size=x.shape).astype(np.float32)


def loss(x):
    return jnp.sum(x + jax.pure_callback(_noise, jax.ShapeDtypeStruct(x.shape, x.dtype), x))


def main():
    print(jax.grad(loss)(jnp.ones(3)))
