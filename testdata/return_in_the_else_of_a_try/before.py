import jax
import jax.numpy as jnp
import numpy as np


def _checked(x, limit):
    try:
        limit = float(limit)
    except TypeError:
        raise ValueError("one limit, please") from None
    else:
        return np.minimum(x, np.float32(limit))


def main():
    x = jnp.arange(3.0)
    spec = jax.ShapeDtypeStruct(x.shape, x.dtype)
    print(jax.pure_callback(_checked, spec, x, jnp.float32(1.5)).tolist())
