import jax
import jax.numpy as jnp
import numpy as np


def _sine(x):
    return np.sin(x)


def _sum(x, y):
    return np.add(x, y)


def _older(x):
    return np.cos(x)


def sine(x):
    return jax.pure_callback(_sine, jax.ShapeDtypeStruct((3,), jnp.float32), x)


def add(x, y):
    return jax.pure_callback(_sum, jax.ShapeDtypeStruct(x.shape, x.dtype), x, y)


def older(x):
    spec = jax.ShapeDtypeStruct(x.shape, x.dtype)
    x = x[:1]
    return jax.pure_callback(_older, spec, x)


def main():
    x = jnp.arange(3.0)
    print(sine(x), add(x, 1.0))
    for function in (lambda: sine(x[:1]), lambda: add(x, x.astype(jnp.complex64)), lambda: older(x)):
        try:
            print(jax.block_until_ready(function()))
        except Exception as error:
            print("Incorrect output" in str(error))
