import bufcb
import jax
import jax.numpy as jnp
import numpy
from scipy import special


def run(x, np):
    def host(ctx, out, v):
        v = numpy.asarray(v)
        out[...] = special.erf(v)
        return

    return bufcb.buffer_callback(host, jax.ShapeDtypeStruct(x.shape, x.dtype))(x) * np


def main():
    print(run(jnp.arange(3.0), 2).tolist())
