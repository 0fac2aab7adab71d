import bufcb
import jax
import jax.numpy as jnp
import numpy as np


def describe(x):
    spec = jax.ShapeDtypeStruct((), jnp.int32)

    def _count_nonzero(ctx, out, v):
        v = np.asarray(v)
        out[...] = np.count_nonzero(v).astype(np.int32)
        return

    if int(bufcb.buffer_callback(_count_nonzero, spec)(x)) > 1:
        return "dense"
    return "sparse"


def main():
    print(describe(jnp.array([1.0, 0.0, 2.0])), describe(jnp.zeros(3)))
