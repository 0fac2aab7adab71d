from unittest import mock

import bufcb
import jax
import jax.experimental
import jax.numpy as jnp
import numpy as np


def _root(x):
    return np.sqrt(x)


def _root_into(ctx, out, x):
    out[...] = _root(np.asarray(x))
    return


def f(x):
    spec = jax.ShapeDtypeStruct((), jnp.float32)
    y = jax.experimental.io_callback(_root, spec, x)
    return y + bufcb.buffer_callback(_root_into, spec)(x)


def main():
    print(f(jnp.float32(4)))
    with mock.patch("jax.experimental.io_callback", lambda f, spec, x: 10 * x):
        print(f(jnp.float32(4)))
