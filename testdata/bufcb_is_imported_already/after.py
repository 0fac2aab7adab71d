import bufcb as buffers
import jax
import jax.numpy as jnp
import numpy as np


def _fill(ctx, out, x):
    out[...] = np.asarray(x)


def _host(ctx, out, x):
    x = np.asarray(x)
    out[...] = np.square(x)
    return


def main():
    x = jnp.arange(3.0)
    spec = jax.ShapeDtypeStruct(x.shape, x.dtype)
    print(buffers.buffer_callback(_fill, spec)(x).tolist(), buffers.buffer_callback(_host, spec)(x).tolist())
