import bufcb
import jax
import jax.numpy as jnp
import numpy as np


def _first_above(ctx, out, values, limit):
    values = np.asarray(values)
    for index, value in enumerate(values):
        if value > float(limit):
            out[...] = np.int32(index)
            return
    out[...] = np.int32(-1)
    return


def first_above(values, limit):
    spec = jax.ShapeDtypeStruct((), jnp.int32)
    return bufcb.buffer_callback(_first_above, spec)(values, limit)


def main():
    values = jnp.array([1.0, 3.0, 2.0])
    print(first_above(values, 1.5), first_above(values, 9.0))
