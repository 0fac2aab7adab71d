import bufcb
import jax
import jax.numpy as jnp
import numpy as np


def _scale(context, out_buffer, x, *, out, ctx=1.0):
    out_buffer[...] = np.multiply(np.asarray(x), np.asarray(out))
    return


def main():
    x = jnp.arange(3.0)
    spec = jax.ShapeDtypeStruct(x.shape, x.dtype)
    print(bufcb.buffer_callback(_scale, spec)(x, out=jnp.float32(3)).tolist())
