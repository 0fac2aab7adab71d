import bufcb
import jax
import jax.numpy as jnp
import numpy as np


def _host(ctx, out, x):
    x = np.asarray(x)
    out[...] = np.sin(x)
    return


def run(x, flag):
    spec = jax.ShapeDtypeStruct(x.shape, x.dtype)
    a = bufcb.buffer_callback(_host, spec, vmap_method="legacy_vectorized")(x)
    b = bufcb.buffer_callback(_host, spec, vmap_method="sequential")(x)
    c = bufcb.buffer_callback(
        _host, spec, vmap_method="legacy_vectorized" if flag else "sequential"
    )(x)
    return a, b, c


def main():
    x = jnp.zeros(2)
    print([r.tolist() for r in jax.vmap(lambda v: run(v, True))(x)])
