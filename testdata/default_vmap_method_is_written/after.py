import bufcb
import jax
import jax.numpy as jnp
import numpy as np


def _negate(ctx, out, x):
    x = np.asarray(x)
    out[...] = np.negative(x)
    return


def negate(x):
    spec = jax.ShapeDtypeStruct(x.shape, x.dtype)
    once = bufcb.buffer_callback(_negate, spec, vmap_method="sequential")(x)
    return bufcb.buffer_callback(_negate, spec, vmap_method="expand_dims")(once)


def main():
    print(negate(jnp.arange(2.0)).tolist())
