import jax
import jax.numpy as jnp
import numpy as np


def _ramp():
    return np.arange(3, dtype=np.float32)


class Table:
    size = 3
    values = jax.pure_callback(_ramp, jax.ShapeDtypeStruct((size,), jnp.float32))


def main():
    print(Table.values.tolist())
