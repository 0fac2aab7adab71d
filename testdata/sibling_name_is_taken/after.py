import bufcb
import jax
import jax.numpy as jnp
import numpy as np


def square(x):
    return np.square(x)


def _square_into_2(ctx, out, x):
    out[...] = square(np.asarray(x))
    return


def _square_into(target, x):
    target[:] = square(x)


def main():
    x = jnp.arange(3.0)
    print(bufcb.buffer_callback(_square_into_2, jax.ShapeDtypeStruct(x.shape, x.dtype))(x).tolist())
