import bufcb
import jax
import jax.numpy as jnp
import numpy as np


def _sum(ctx, out, *terms):
    out[...] = np.asarray(sum(np.asarray(t) for t in terms), np.float32)
    return


def main():
    x = jnp.ones(2)
    print(bufcb.buffer_callback(_sum, jax.ShapeDtypeStruct((2,), jnp.float32))(x, x).tolist())
