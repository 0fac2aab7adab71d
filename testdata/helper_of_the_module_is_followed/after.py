import bufcb
import jax
import jax.numpy as jnp
import numpy as np


def _scaled(values, factor):
    return np.multiply(values, factor)


def _trimmed(values):
    return values[:2]


def _host(ctx, out, x):
    x = np.asarray(x)
    out[...] = _scaled(_trimmed(x), np.float32(2))
    return


def main():
    x = jnp.arange(3.0)
    print(bufcb.buffer_callback(_host, jax.ShapeDtypeStruct((2,), jnp.float32))(x).tolist())
