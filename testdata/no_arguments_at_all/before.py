import itertools

import jax
import jax.numpy as jnp
import numpy as np

_COUNTER = itertools.count(3)


def _next():
    return np.int32(next(_COUNTER))


def main():
    print(int(jax.pure_callback(_next, jax.ShapeDtypeStruct((), jnp.int32))))
