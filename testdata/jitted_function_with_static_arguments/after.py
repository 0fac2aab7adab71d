import functools

import bufcb
import jax
import jax.numpy as jnp
import numpy as np


@functools.partial(jax.jit, static_argnames=("axis", "reverse"))
def ordered(x, *, axis=-1, reverse=False):
    def _sorted(ctx, out, values):
        result = np.sort(np.asarray(values), axis=axis)
        if reverse:
            out[...] = np.flip(result, axis=axis)
            return
        out[...] = result
        return

    return bufcb.buffer_callback(_sorted, jax.ShapeDtypeStruct(x.shape, x.dtype), vmap_method="broadcast_all")(x)


def main():
    x = jnp.array([[3.0, 1.0], [2.0, 4.0]])
    print(ordered(x).tolist(), ordered(x, axis=0, reverse=True).tolist(), jax.vmap(ordered)(x).tolist())
