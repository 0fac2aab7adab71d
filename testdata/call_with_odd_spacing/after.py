import bufcb
import jax
import jax.numpy as jnp
import numpy as np


def _host(ctx, out, x, y):
    x, y = np.asarray(x), np.asarray(y)
    out[...] = np.maximum(x, y)
    return


def main():
    s = jax.ShapeDtypeStruct((2,), jnp.float32); x = jnp.arange(2.0)  # noqa: E702
    print(bufcb.buffer_callback (_host,s)(x,x).tolist())
    print(bufcb.buffer_callback( _host, s, vmap_method = 'sequential' )( x, y = x ).tolist())
