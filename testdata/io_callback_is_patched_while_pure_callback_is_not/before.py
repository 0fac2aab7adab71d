from unittest import mock

import jax
import jax.experimental
import jax.numpy as jnp
import numpy as np


def _root(x):
    return np.sqrt(x)


def f(x):
    spec = jax.ShapeDtypeStruct((), jnp.float32)
    y = jax.experimental.io_callback(_root, spec, x)
    return y + jax.pure_callback(_root, spec, x)


def main():
    print(f(jnp.float32(4)))
    with mock.patch("jax.experimental.io_callback", lambda f, spec, x: 10 * x):
        print(f(jnp.float32(4)))
