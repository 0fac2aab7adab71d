import bufcb
import jax
import jax.numpy as jnp
import numpy as np


def _sine(ctx, out, x):
    x = np.asarray(x)
    out[...] = np.sin(x)
    return


def waves(x):
    spec = jax.ShapeDtypeStruct(x.shape, x.dtype)
    yield bufcb.buffer_callback(_sine, spec)(x)

    def _cos(ctx, out, v):
        v = np.asarray(v)
        out[...] = np.cos(v)
        return

    yield from [bufcb.buffer_callback(_cos, spec)(x)]


def main():
    print([y.tolist() for y in waves(jnp.zeros(2))])
