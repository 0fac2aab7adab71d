import bufcb
import jax.numpy as jnp
import numpy as np


def _weights(ctx, out, n):
    out[...] = np.arange(3, dtype=np.float32) / np.float32(int(n))
    return


def main():
    print(bufcb.buffer_callback(_weights, jnp.zeros(3, jnp.float32))(jnp.int32(2)).tolist())
