import bufcb
import jax
import jax.numpy as jnp
import numpy as np

__all__ = ["_square"]


def _square(x):
    return np.square(x)


def _square_into(ctx, out, x):
    out[...] = _square(np.asarray(x))
    return


def main():
    x = jnp.arange(3.0)
    print(bufcb.buffer_callback(_square_into, jax.ShapeDtypeStruct(x.shape, x.dtype))(x).tolist())
