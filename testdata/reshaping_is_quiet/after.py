import bufcb
import jax
import jax.numpy as jnp
import numpy as np


def _columns(ctx, out, x):
    x = np.asarray(x)
    rows = x.reshape(2, -1).T
    bufcb.store(out, (np.ascontiguousarray(rows[0]), rows.ravel().copy()))
    return


def main():
    x = jnp.arange(4.0)
    first = jax.ShapeDtypeStruct((2,), x.dtype)
    print([r.tolist() for r in bufcb.buffer_callback(_columns, (first, jax.ShapeDtypeStruct((4,), x.dtype)))(x)])
