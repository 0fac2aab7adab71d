import numpy as np
import os

import jax.numpy as jnp
import jax

from scipy import special


def _host(x):
    return special.erf(x)


def main():
    x = jnp.zeros(2)
    print(jax.pure_callback(_host, jax.ShapeDtypeStruct(x.shape, x.dtype), x).tolist(), os.sep == "/")
