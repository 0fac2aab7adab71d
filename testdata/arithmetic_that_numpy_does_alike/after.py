import bufcb
import jax
import jax.numpy as jnp
import numpy as np


def _line(ctx, out, x, y):
    x, y = np.asarray(x), np.asarray(y)
    inside = x > 0
    out[...] = np.where(inside, x * 2 + 1, x - y)
    return


def line(x):
    spec = jax.ShapeDtypeStruct(x.shape, x.dtype)
    return bufcb.buffer_callback(_line, spec)(jnp.sin(x).astype(jnp.float32), jnp.cos(x).astype(jnp.float32))


def main():
    print(np.round(line(jnp.array([1.0, -1.0])), 5).tolist())
