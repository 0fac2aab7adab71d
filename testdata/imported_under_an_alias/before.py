import numpy as np
from jax import ShapeDtypeStruct, numpy as jnp, pure_callback as pc


def _host(x):
    return np.square(x)


def main():
    x = jnp.arange(3.0)
    print(pc(_host, ShapeDtypeStruct(x.shape, x.dtype), x).tolist())
