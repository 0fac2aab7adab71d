import jax
import jax.numpy as jnp
import numpy as np
from jax.experimental import io_callback

_table = {0: 0.5}


def _look_up(index):
    """Adds what is missing to the table."""
    return np.float32(_table.setdefault(int(index), len(_table)))


@jax.jit
def look_up(index):
    return io_callback(_look_up, jax.ShapeDtypeStruct((), jnp.float32), index)


def main():
    print([look_up(i).item() for i in (0, 7, 7, 8)], _table)
