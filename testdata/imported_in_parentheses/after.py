import bufcb
import numpy as np
from jax import (
    ShapeDtypeStruct,
    vmap,
)
import jax.numpy as jnp


def _host(ctx, out, x):
    x = np.asarray(x)
    out[...] = np.square(x)
    return


def main():
    x = jnp.arange(3.0)
    spec = ShapeDtypeStruct((), x.dtype)
    print(vmap(lambda v: bufcb.buffer_callback(_host, spec, vmap_method="sequential")(v))(x).tolist())
