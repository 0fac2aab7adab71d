import bufcb
import jax
import jax.numpy as jnp
import numpy as np


def _blend(context, output_buffer, a, b):
    ctx = np.asarray(a)
    out = np.asarray(b)
    out_buffer = np.add(ctx, out)
    output_buffer[...] = out_buffer / np.float32(2)
    return


def blend(a, b):
    return bufcb.buffer_callback(_blend, jax.ShapeDtypeStruct(a.shape, a.dtype))(a, b)


def main():
    print(blend(jnp.ones(3), jnp.arange(3.0)).tolist())
