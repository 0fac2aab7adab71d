import jax
import jax.numpy as jnp
import numpy as np


def _order(x):
    return np.argsort(np.asarray(x)).astype(np.int32)


def loss(x):
    order = jax.pure_callback(_order, jax.ShapeDtypeStruct(x.shape, jnp.int32), x)
    return jnp.sum(x[order] * jnp.arange(3.0))


def main():
    print(jax.grad(loss)(jnp.array([2.0, 0.5, 1.0])))
