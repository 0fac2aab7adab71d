import bufcb
import jax
import jax.numpy as jnp
import numpy as np


def _halves(ctx, out, x):
    left = np.asarray(x)[:2]
    right = np.asarray(x)[2:]
    out[0][...] = left.copy()
    out[1][...] = right.copy()
    return


def main():
    half = jax.ShapeDtypeStruct((2,), jnp.float32)
    print([h.tolist() for h in bufcb.buffer_callback(_halves, [half, half])(jnp.arange(4.0))])
