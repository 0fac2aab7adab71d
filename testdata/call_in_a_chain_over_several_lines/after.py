import bufcb
import jax
import jax.numpy as jnp
import numpy as np


def _sine(ctx, out, x):
    x = np.asarray(x)
    out[...] = np.sin(x)
    return


def main():
    x = jnp.zeros(4)
    total = (
        bufcb.buffer_callback(_sine, jax.ShapeDtypeStruct(x.shape, x.dtype))(x)
        .reshape(2, 2)  # two rows
        .sum(axis=0)
    )
    print(total.tolist())
