import bufcb
import jax
import jax.numpy as jnp
import numpy as np


def _host(ctx, out, x):
    x = np.asarray(x)
    out[...] = np.square(x)
    return


def main():
    x = jnp.arange(2.0)
    print(bufcb.buffer_callback(_host, jax.ShapeDtypeStruct(x.shape, x.dtype))(x).tolist())
