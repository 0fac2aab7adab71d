import numpy as np
from jax import (
    ShapeDtypeStruct,
    pure_callback,  # to the host
    vmap,
)
import jax.numpy as jnp


def _host(x):
    return np.square(x)


def main():
    x = jnp.arange(3.0)
    spec = ShapeDtypeStruct((), x.dtype)
    print(vmap(lambda v: pure_callback(_host, spec, v, vmap_method="sequential"))(x).tolist())
