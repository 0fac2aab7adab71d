import bufcb
import jax
import jax.numpy as jnp
import numpy as np
import numpy

from scipy import special


def _host(ctx, out, v):
    v = numpy.asarray(v)
    out[...] = special.erf(v)
    return


X = np.arange(3, dtype=np.float32)
del np


def main():
    print(bufcb.buffer_callback(_host, jax.ShapeDtypeStruct(X.shape, X.dtype))(X).tolist())
