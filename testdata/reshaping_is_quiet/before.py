import jax
import jax.numpy as jnp
import numpy as np


def _columns(x):
    rows = x.reshape(2, -1).T
    return np.ascontiguousarray(rows[0]), rows.ravel().copy()


def main():
    x = jnp.arange(4.0)
    first = jax.ShapeDtypeStruct((2,), x.dtype)
    print([r.tolist() for r in jax.pure_callback(_columns, (first, jax.ShapeDtypeStruct((4,), x.dtype)), x)])
