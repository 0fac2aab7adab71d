import bufcb
import jax
import jax.numpy as jnp
import numpy as np

LOG = []


def _host(ctx, out, x):
    x = np.array(x)
    row = np.empty(1, object)
    row[0] = x
    LOG.append(row)
    LOG.append(np.array([x, None], dtype=object))
    out[...] = np.square(x)
    return


def main():
    for k in range(2):
        x = jnp.arange(3.0) + k
        print(bufcb.buffer_callback(_host, jax.ShapeDtypeStruct(x.shape, x.dtype))(x).tolist())
