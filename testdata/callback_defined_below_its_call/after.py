import bufcb
import jax
import jax.numpy as jnp
import numpy as np


def main():
    x = jnp.arange(2.0)
    print(bufcb.buffer_callback(_below, jax.ShapeDtypeStruct(x.shape, x.dtype))(x).tolist())


def _below(ctx, out, x):
    x = np.asarray(x)
    out[...] = np.square(x)
    return
