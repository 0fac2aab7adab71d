import bufcb
import jax
import jax.numpy as jnp
import numpy as np

LOG = []


def _remember(ctx, out, x, y):
    x = np.array(x)
    y = np.array(y, np.float32)
    LOG.append(x)
    LOG.append(y)
    out[...] = np.add(x, y)
    return


def main():
    x = jnp.arange(3.0)
    bufcb.buffer_callback(_remember, jax.ShapeDtypeStruct(x.shape, x.dtype))(x, x)
    print(bufcb.buffer_callback(_remember, jax.ShapeDtypeStruct(x.shape, x.dtype))(x + 1, x).tolist())
    print([entry.tolist() for entry in LOG])
