import sys

import jax
import jax.numpy as jnp
import numpy as np


def _host(x):
    return np.square(x)


def run(x):
    return jax.pure_callback(_host, jax.ShapeDtypeStruct(x.shape, x.dtype), x)


def main():
    print(run(jnp.arange(3.0)).tolist())
    print(getattr(sys.modules[__name__], "_host")(np.arange(3.0)).tolist())
