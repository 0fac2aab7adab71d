import bufcb
import jax
import jax.numpy as jnp
import numpy as np
from kernels import triple


def _triple_into(ctx, out, x):
    out[...] = triple(np.asarray(x))
    return


def main():
    x = jnp.arange(2.0)
    print(bufcb.buffer_callback(_triple_into, jax.ShapeDtypeStruct(x.shape, x.dtype))(x).tolist())
