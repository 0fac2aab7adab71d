import jax
import jax.numpy as jnp
import numpy as np
from compat import pure_callback


def _host(x):
    return np.square(x)


def main():
    x = jnp.arange(2.0)
    print(pure_callback(_host, jax.ShapeDtypeStruct(x.shape, x.dtype), x).tolist())
