import bufcb
import jax
import jax.numpy as jnp
import numpy as np


def _moments(ctx, out, x):
    x = np.asarray(x)
    centre = x.mean()
    # the first moment
    out[0][...] = centre
    # per element
    # not normalised
    out[1][...] = np.square(x)
    return


def moments(x):
    leaf = jax.ShapeDtypeStruct((), x.dtype)
    return bufcb.buffer_callback(_moments, (leaf, jax.ShapeDtypeStruct(x.shape, x.dtype)))(x)


def main():
    print([m.tolist() for m in moments(jnp.array([1.0, 2.0, 6.0]))])
