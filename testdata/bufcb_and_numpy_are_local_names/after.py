import bufcb as _bufcb
import jax
import jax.numpy as jnp
import numpy
from scipy import special


def _digamma(ctx, out, x):
    x = numpy.asarray(x)
    out[...] = special.digamma(x)
    return


def main():
    bufcb = np = jnp.array([1.0])
    y = _bufcb.buffer_callback(_digamma, jax.ShapeDtypeStruct(np.shape, np.dtype))(bufcb)
    print([round(v, 5) for v in y.tolist()])
