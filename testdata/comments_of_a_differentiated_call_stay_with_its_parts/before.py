import jax
import jax.numpy as jnp
import numpy as np


def _blend(x, y):
    return np.rint(np.asarray(x)) / 2 + np.asarray(y) / 2


def loss(x, y):
    blended = jax.pure_callback(
        _blend,  # on the host
        jax.ShapeDtypeStruct(x.shape, x.dtype),
        x,  # what is seen
        # what is wanted
        jnp.sin(y),
        vmap_method="sequential",
    )  # halfway
    return jnp.sum(blended)


gradient = jax.grad(loss)


def main():
    print(loss(jnp.ones(2), jnp.zeros(2)))
