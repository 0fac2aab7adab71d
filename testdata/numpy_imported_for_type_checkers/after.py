from typing import TYPE_CHECKING

import bufcb
import jax
import jax.numpy as jnp
import numpy
from scipy import special

if TYPE_CHECKING:
    import numpy as np


def _host(ctx, out, v: "np.ndarray"):
    v = numpy.asarray(v)
    out[...] = special.erf(v)
    return


def main():
    print(bufcb.buffer_callback(_host, jax.ShapeDtypeStruct((1,), jnp.float32))(jnp.ones(1)).tolist())
