import functools

import bufcb
import jax
import jax.numpy as jnp
import numpy as np


@functools.lru_cache
def _polynomial(*coefficients):
    """The same function for the same coefficients."""

    def evaluate(ctx, out, x):
        x = np.asarray(x)
        out[...] = np.polyval(np.array(coefficients, np.float32), x)
        return

    return evaluate


def polynomial(x, *coefficients):
    spec = jax.ShapeDtypeStruct(x.shape, x.dtype)
    return bufcb.buffer_callback(_polynomial(*coefficients), spec, vmap_method="expand_dims")(x)


def main():
    print(polynomial(jnp.arange(3.0), 1.0, 0.0, 2.0).tolist())
