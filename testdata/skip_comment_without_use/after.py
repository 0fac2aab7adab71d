import bufcb
import jax
import jax.numpy as jnp
import numpy as np

SCALE = np.float32(2)  # bufcb: skip


def _host(ctx, out, x):
    x = np.asarray(x)
    out[...] = np.multiply(x, SCALE)
    return


def main():
    x = jnp.arange(3.0)
    print(bufcb.buffer_callback(_host, jax.ShapeDtypeStruct(x.shape, x.dtype))(x).tolist())
