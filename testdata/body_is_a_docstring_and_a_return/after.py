import bufcb
import jax
import jax.numpy as jnp
import numpy as np


def _arctan(ctx, out, x):
    '''Arcus tangens on the host.

    Returns:
      An array of the shape of `x`.
    '''
    x = np.asarray(x)
    out[...] = np.arctan(x)
    return


def main():
    x = jnp.linspace(-1.0, 1.0, 3)
    print(np.round(bufcb.buffer_callback(_arctan, jax.ShapeDtypeStruct(x.shape, x.dtype))(x), 5).tolist())
