import bufcb
import jax
import jax.numpy as jnp
import numpy
from scipy import special


def _host(ctx, out, v):
    v = numpy.asarray(v)
    out[...] = special.erf(v)
    return


def main():
    import numpy as np

    print(bufcb.buffer_callback(_host, jax.ShapeDtypeStruct((1,), jnp.float32))(np.ones(1, np.float32)).tolist())
