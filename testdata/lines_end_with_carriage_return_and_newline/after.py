import bufcb
import jax
import jax.numpy as jnp
import numpy as np


def _norm(ctx, out, x, order):
    """Of each row.

    On the host.
    """
    x = np.asarray(x)
    if int(order) == 1:
        bufcb.store(out, np.abs(x).max(axis=1))
        return
    bufcb.store(out, (np.linalg.norm(x, axis=1), np.ones_like(x)))
    return


def norm(x, order):
    text = """two
    lines"""
    del text
    leaf = jax.ShapeDtypeStruct(x.shape[:1], x.dtype)

    def _norm_host(ctx, out, v):
        v = np.asarray(v)
        out[...] = np.linalg.norm(v, axis=1)
        return

    y = bufcb.buffer_callback(_norm_host, leaf)(x)
    return bufcb.buffer_callback(
        _norm,  # rows
        leaf if order == 1 else (leaf, jax.ShapeDtypeStruct(x.shape, x.dtype)),
    )(x, order), y


def main():
    x = jnp.eye(2)
    print(norm(x, 1)[0].tolist(), norm(x, 2)[0][0].tolist())
