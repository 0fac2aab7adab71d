import bufcb
import jax
import jax.numpy as jnp
import numpy as np


def _solve(ctx, out, a, b):
    a, b = np.asarray(a), np.asarray(b)
    try:
        result = np.linalg.solve(a, b)
    except np.linalg.LinAlgError:
        out[...] = np.full(np.shape(b), np.nan, np.float32)
        return
    out[...] = result
    return


def main():
    b = jnp.ones(2)
    spec = jax.ShapeDtypeStruct(b.shape, b.dtype)
    print(bufcb.buffer_callback(_solve, spec)(jnp.eye(2), b).tolist())
    print(bufcb.buffer_callback(_solve, spec)(jnp.zeros((2, 2)), b).tolist())
