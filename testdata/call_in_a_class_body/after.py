import bufcb
import jax
import jax.numpy as jnp
import numpy as np


def _ramp(ctx, out):
    out[...] = np.arange(3, dtype=np.float32)
    return


class Table:
    size = 3
    values = bufcb.buffer_callback(_ramp, jax.ShapeDtypeStruct((size,), jnp.float32))()


def main():
    print(Table.values.tolist())
