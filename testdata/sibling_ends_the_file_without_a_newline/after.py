import bufcb
import jax
import jax.numpy as jnp
import numpy as np


def main():
    x = jnp.arange(2.0)
    print(bufcb.buffer_callback(_square_into, jax.ShapeDtypeStruct(x.shape, x.dtype))(x).tolist())


def square(x):
    return np.square(x)


def _square_into(ctx, out, x):
    out[...] = square(np.asarray(x))
    return