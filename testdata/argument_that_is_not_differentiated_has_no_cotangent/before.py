import jax
import jax.numpy as jnp
import numpy as np


def _shift(x, steps):
    return np.roll(np.asarray(x), int(steps))


def _loss(x, steps):
    y = jax.pure_callback(_shift, jax.ShapeDtypeStruct(x.shape, x.dtype), x, steps)
    return jnp.sum(y * jnp.arange(3.0))


gradient = jax.grad(_loss)


def main():
    print(_loss(jnp.arange(3.0), 1))
