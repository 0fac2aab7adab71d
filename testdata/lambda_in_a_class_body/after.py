import bufcb
import jax
import jax.numpy as jnp
import numpy as np


def _ones_like(ctx, out, v):
    v = np.asarray(v)
    out[...] = np.ones_like(v)
    return


class Constants:
    ones = bufcb.buffer_callback(_ones_like, jax.ShapeDtypeStruct((2,), jnp.float32))(jnp.zeros(2))


def main():
    print(Constants.ones.tolist())
