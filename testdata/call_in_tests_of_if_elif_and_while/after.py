import bufcb
import jax
import jax.numpy as jnp
import numpy as np


def _is_small(ctx, out, x):
    out[...] = np.all(np.asarray(x) < 10)
    return


def grow(x):
    spec = jax.ShapeDtypeStruct((), bool)
    if not bufcb.buffer_callback(_is_small, spec)(x):
        return x
    elif bufcb.buffer_callback(_is_small, spec)(x * 100):
        return x * 100
    while bufcb.buffer_callback(_is_small, spec)(x):
        x = x * 2
    return x


def main():
    print(grow(jnp.float32(20)), grow(jnp.float32(0.01)), grow(jnp.float32(3)))
