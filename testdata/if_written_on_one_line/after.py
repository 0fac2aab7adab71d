import bufcb
import jax
import jax.numpy as jnp
import numpy as np


def _root(ctx, out, v):
    v = np.asarray(v)
    if v.min() < 0: out[...] = np.full_like(v, np.nan); return  # noqa: E701
    out[...] = np.sqrt(v)
    return


def main():
    for values in ([4.0, 9.0], [4.0, -9.0]):
        v = jnp.array(values)
        print(bufcb.buffer_callback(_root, jax.ShapeDtypeStruct(v.shape, v.dtype))(v).tolist())
