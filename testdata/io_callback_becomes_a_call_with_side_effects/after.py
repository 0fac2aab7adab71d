import bufcb
import jax
import jax.numpy as jnp
import numpy as np

_table = {0: 0.5}


def _look_up(ctx, out, index):
    """Adds what is missing to the table."""
    out[...] = np.float32(_table.setdefault(int(index), len(_table)))
    return


@jax.jit
def look_up(index):
    return bufcb.buffer_callback(
        _look_up,
        jax.ShapeDtypeStruct((), jnp.float32),
        has_side_effect=True,
        vmap_method="sequential",
    )(index)


def main():
    print([look_up(i).item() for i in (0, 7, 7, 8)], _table)
