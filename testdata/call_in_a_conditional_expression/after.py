import bufcb
import jax
import jax.numpy as jnp
import numpy as np


def wave(x, shift):
    spec = jax.ShapeDtypeStruct(x.shape, x.dtype)

    def _cos(ctx, out, v):
        v = np.asarray(v)
        out[...] = np.cos(v)
        return

    def _sin(ctx, out, v):
        v = np.asarray(v)
        out[...] = np.sin(v)
        return

    return bufcb.buffer_callback(_cos, spec)(x) if shift else bufcb.buffer_callback(_sin, spec)(x)


def main():
    x = jnp.zeros(2)
    print(wave(x, True).tolist(), wave(x, False).tolist())
