import bufcb
import jax
import jax.numpy as jnp
import numpy as np

METHOD = "expand_dims"


def _negate(ctx, out, x):
    x = np.asarray(x)
    out[...] = np.negative(x)
    return


def negate(x):
    return bufcb.buffer_callback(
        _negate,
        jax.ShapeDtypeStruct(x.shape, x.dtype),
        vmap_method=METHOD if x.ndim else "sequential",
    )(x)


def main():
    print(jax.vmap(negate)(jnp.ones((2, 2))).tolist())
