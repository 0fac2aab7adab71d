import jax
import jax.numpy as jnp
import numpy as np


def loss(a):
    return jnp.sum(jax.pure_callback(np.linalg.inv, jax.ShapeDtypeStruct(a.shape, a.dtype), a))


gradient = jax.grad(loss)


def main():
    print(loss(2 * jnp.eye(2)))
