import sys

import bufcb
import jax
import jax.numpy as jnp
import numpy as np


def _host(x):
    return np.square(x)


def _host_into(ctx, out, x):
    out[...] = _host(np.asarray(x))
    return


def run(x):
    return bufcb.buffer_callback(_host_into, jax.ShapeDtypeStruct(x.shape, x.dtype))(x)


def main():
    print(run(jnp.arange(3.0)).tolist())
    print(getattr(sys.modules[__name__], "_host")(np.arange(3.0)).tolist())
