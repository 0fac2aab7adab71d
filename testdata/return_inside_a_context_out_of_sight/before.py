import contextlib

import jax
import jax.numpy as jnp
import numpy as np


@contextlib.contextmanager
def timer(label):
    yield label


def _timed(x):
    with timer("first"):
        if x.ndim == 1:
            return np.square(x)
    return np.cbrt(x)


def main():
    x = jnp.arange(2.0)
    print(jax.pure_callback(_timed, jax.ShapeDtypeStruct((2,), jnp.float32), x).tolist())
