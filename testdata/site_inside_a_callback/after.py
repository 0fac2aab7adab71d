import bufcb
import jax
import jax.numpy as jnp
import numpy as np


def outer(x):
    spec = jax.ShapeDtypeStruct(x.shape, x.dtype)

    def _middle(v):
        def _inner(ctx, out, w):
            w = np.asarray(w)
            out[...] = np.square(w)
            return

        return np.asarray(bufcb.buffer_callback(_inner, spec)(v)) + np.float32(1)

    return bufcb.buffer_callback(bufcb.adapt(_middle, arrays="jax"), spec)(x)


def main():
    print(outer(jnp.arange(3.0)).tolist())
