import bufcb
import jax
import jax.numpy as jnp
import numpy as np


def _linspace(ctx, out, n):
    out[...] = np.linspace(0.0, 1.0, 3) * float(n)
    return


def main():
    print(bufcb.buffer_callback(_linspace, jax.ShapeDtypeStruct((3,), jnp.float32))(jnp.int32(2)).tolist())
