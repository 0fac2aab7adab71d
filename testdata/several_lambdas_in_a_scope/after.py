import bufcb
import jax
import jax.numpy as jnp
import numpy as np


def both_ends(x):
    spec = jax.ShapeDtypeStruct((), x.dtype)

    def _sort(ctx, out, v):
        out[...] = np.sort(np.asarray(v))[0]
        return

    low = bufcb.buffer_callback(_sort, spec)(x)

    def _both_ends_host(ctx, out, v):
        out[...] = np.sort(np.asarray(v))[-1]
        return

    high = bufcb.buffer_callback(_both_ends_host, spec)(x)
    return low, high


def main():
    low, high = both_ends(jnp.array([3.0, 1.0, 2.0]))
    print(float(low), float(high))
