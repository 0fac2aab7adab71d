import numpy as np
import os

import bufcb
import jax.numpy as jnp
import jax

from scipy import special


def _host(ctx, out, x):
    x = np.asarray(x)
    out[...] = special.erf(x)
    return


def main():
    x = jnp.zeros(2)
    print(bufcb.buffer_callback(_host, jax.ShapeDtypeStruct(x.shape, x.dtype))(x).tolist(), os.sep == "/")
