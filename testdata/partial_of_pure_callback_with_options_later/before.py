import functools

import jax
import jax.numpy as jnp
import numpy as np

SPEC = jax.ShapeDtypeStruct((3,), jnp.float32)


def _host(x):
    return np.square(x)


call = functools.partial(jax.pure_callback, _host, SPEC)
typed = functools.partial(jax.pure_callback, result_shape_dtypes=SPEC)
bound = functools.partial(jax.pure_callback, np.add, SPEC, jnp.ones(3))


def main():
    x = jnp.arange(3.0)
    print(call(x, vmap_method="sequential").tolist(), typed(np.negative).tolist() if x is None else None)
    print(bound(x).tolist())
