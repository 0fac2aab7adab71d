import bufcb
import jax
import jax.numpy as jnp
import numpy as np


def main():
    x = jnp.array([1.0, 4.0])
    spec = jax.ShapeDtypeStruct(x.shape, x.dtype)

    def _sqrt(ctx, out, v):
        v = np.asarray(v)
        out[...] = np.sqrt(v)
        return

    def _exp2(ctx, out, v):
        v = np.asarray(v)
        out[...] = np.exp2(v)
        return

    pair = bufcb.buffer_callback(_sqrt, spec)(x), bufcb.buffer_callback(_exp2, spec)(x)
    print([p.tolist() for p in pair])
