import functools

import jax
import jax.numpy as jnp
import numpy as np


@functools.lru_cache
def _table():
    return np.arange(3, dtype=np.float32)


def main():
    print(jax.pure_callback(_table, jax.ShapeDtypeStruct((3,), jnp.float32)).tolist())
