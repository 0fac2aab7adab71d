import bufcb
import jax
import jax.numpy as jnp
import numpy as np
from scipy import special


def _digamma(ctx, out, x):
    x = np.asarray(x)
    out[...] = special.digamma(x)
    return


def main():
    x = jnp.array([1.0])
    y = bufcb.buffer_callback(_digamma, jax.ShapeDtypeStruct(x.shape, x.dtype))(x)
    print([round(v, 5) for v in y.tolist()])
