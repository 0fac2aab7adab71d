from jax import pure_callback
from jax import ShapeDtypeStruct
import jax.numpy as jnp
import numpy as np


def _host(x):
    return np.square(x)


def main():
    from user import double

    x = jnp.arange(3.0)
    print(pure_callback(_host, ShapeDtypeStruct(x.shape, x.dtype), x).tolist(), double(x).tolist())
