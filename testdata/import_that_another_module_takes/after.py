from jax import pure_callback
from jax import ShapeDtypeStruct
import bufcb
import jax.numpy as jnp
import numpy as np


def _host(ctx, out, x):
    x = np.asarray(x)
    out[...] = np.square(x)
    return


def main():
    from user import double

    x = jnp.arange(3.0)
    print(bufcb.buffer_callback(_host, ShapeDtypeStruct(x.shape, x.dtype))(x).tolist(), double(x).tolist())
