import bufcb
import jax
import jax.numpy as jnp
import numpy as np


def _host(x):
    return np.square(x)


def _host_into(ctx, out, x):
    out[...] = _host(np.asarray(x))
    return


def main():
    x = jnp.arange(3.0)
    spec = jax.ShapeDtypeStruct(x.shape, x.dtype)
    print(jax.pure_callback(_host, spec, x).tolist())  # bufcb: skip
    print(bufcb.buffer_callback(_host_into, spec)(x).tolist())
