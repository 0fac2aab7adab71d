import bufcb
import jax
import jax.numpy as jnp
import numpy as np


def _sine(ctx, out, x):
    x = np.asarray(x)
    out[...] = np.sin(x)
    return


def _sum(ctx, out, x, y):
    x, y = np.asarray(x), np.asarray(y)
    out[...] = np.add(x, y)
    return


def _older(ctx, out, x):
    x = np.asarray(x)
    out[...] = np.cos(x)
    return


def sine(x):
    return bufcb.buffer_callback(_sine, jax.ShapeDtypeStruct((3,), jnp.float32))(x)


def add(x, y):
    return bufcb.buffer_callback(_sum, jax.ShapeDtypeStruct(x.shape, x.dtype))(x, y)


def older(x):
    spec = jax.ShapeDtypeStruct(x.shape, x.dtype)
    x = x[:1]
    return bufcb.buffer_callback(_older, spec)(x)


def main():
    x = jnp.arange(3.0)
    print(sine(x), add(x, 1.0))
    for function in (lambda: sine(x[:1]), lambda: add(x, x.astype(jnp.complex64)), lambda: older(x)):
        try:
            print(jax.block_until_ready(function()))
        except Exception as error:
            print("Incorrect output" in str(error))
