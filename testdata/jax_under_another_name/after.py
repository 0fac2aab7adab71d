import bufcb
import jax as J
import jax.numpy as jnp
import numpy


def _host(ctx, out, x):
    x = numpy.asarray(x)
    out[...] = numpy.sqrt(x)
    return


def main():
    x = jnp.array([4.0])
    print(bufcb.buffer_callback(_host, J.ShapeDtypeStruct(x.shape, x.dtype))(x).tolist())
