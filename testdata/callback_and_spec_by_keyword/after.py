import bufcb
import jax
import jax.numpy as jnp
import numpy as np


def _scale(ctx, out, data, factor):
    out[...] = np.asarray(data) * np.asarray(factor)
    return


def main():
    v = jnp.arange(3.0)
    s = jax.ShapeDtypeStruct(v.shape, v.dtype)
    a = bufcb.buffer_callback(_scale, s)(data=v, factor=jnp.float32(2))
    b = bufcb.buffer_callback(_scale, s, vmap_method="sequential")(factor=v, data=v)
    print(a.tolist(), b.tolist())
