import bufcb
import numpy as np
from jax import ShapeDtypeStruct, numpy as jnp


def _host(ctx, out, x):
    x = np.asarray(x)
    out[...] = np.square(x)
    return


def main():
    x = jnp.arange(3.0)
    print(bufcb.buffer_callback(_host, ShapeDtypeStruct(x.shape, x.dtype))(x).tolist())
