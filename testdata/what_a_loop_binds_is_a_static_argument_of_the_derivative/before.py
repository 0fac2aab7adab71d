import functools

import jax
import jax.numpy as jnp
import numpy as np


def _power(n, x):
    return np.asarray(x) ** n


def loss(x):
    for n in (2, 3):
        spec = jax.ShapeDtypeStruct(x.shape, x.dtype)
        x = jax.pure_callback(functools.partial(_power, n), spec, x)
    return jnp.sum(x)


gradient = jax.grad(jax.jit(loss))


def main():
    print(loss(jnp.arange(3.0)))
