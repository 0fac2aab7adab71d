import jax as J
import jax.numpy as jnp
import numpy


def _host(x):
    return numpy.sqrt(x)


def main():
    x = jnp.array([4.0])
    print(J.pure_callback(_host, J.ShapeDtypeStruct(x.shape, x.dtype), x).tolist())
