import bufcb
import jax
import jax.numpy as jnp
import numpy as np


def _sign(ctx, out, x):  # of every element
    # first, convert
    x = np.asarray(x)  # converted

    # nothing to do
    if x.size == 0:
        out[...] = x
        return  # as it is

    # the main case

    out[...] = np.sign(x)
    return
    # never reached


def main():
    x = jnp.array([-2.0, 3.0])
    print(bufcb.buffer_callback(_sign, jax.ShapeDtypeStruct(x.shape, x.dtype))(x).tolist())
