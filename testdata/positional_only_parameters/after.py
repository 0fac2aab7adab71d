import bufcb
import jax
import jax.numpy as jnp
import numpy as np


def _hypot(ctx, out, a, b, /):
    a, b = np.asarray(a), np.asarray(b)
    out[...] = np.hypot(a, b)
    return


def main():
    a = jnp.array([3.0, 5.0])
    spec = jax.ShapeDtypeStruct(a.shape, a.dtype)
    print(bufcb.buffer_callback(_hypot, spec)(a, jnp.array([4.0, 12.0])).tolist())
