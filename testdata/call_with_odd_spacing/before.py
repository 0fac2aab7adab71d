import jax
import jax.numpy as jnp
import numpy as np


def _host(x, y):
    return np.maximum(x, y)


def main():
    s = jax.ShapeDtypeStruct((2,), jnp.float32); x = jnp.arange(2.0)  # noqa: E702
    print(jax.pure_callback (_host,s,x,x,).tolist())
    print(jax.pure_callback( _host, s, x, y = x, vmap_method = 'sequential' ).tolist())
