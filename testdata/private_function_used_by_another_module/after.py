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
    from user import check

    x = jnp.arange(3.0)
    print(bufcb.buffer_callback(_host_into, jax.ShapeDtypeStruct(x.shape, x.dtype))(x).tolist(), check())
