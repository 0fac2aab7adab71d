import jax
import jax.numpy as jnp
import numpy as np


def _solve(a, b):
    return np.linalg.solve(np.asarray(a), np.asarray(b))


def loss(a, b):
    return jnp.sum(jax.pure_callback(_solve, jax.ShapeDtypeStruct(b.shape, b.dtype), a, b))


def main():
    for gradient in jax.grad(loss, argnums=(0, 1))(2 * jnp.eye(2), jnp.ones(2)):
        print(gradient)
