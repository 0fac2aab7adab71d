import jax
import jax.numpy as jnp
import numpy as np


def loss(x):
    y = jax.pure_callback(lambda a: np.partition(a, 1), jax.ShapeDtypeStruct(x.shape, x.dtype), x)
    return jnp.sum(y * jnp.arange(3.0))


gradient = jax.grad(loss)


def main():
    print(loss(jnp.array([2.0, 0.5, 1.0])))
