import jax
import jax.numpy as jnp
import numpy as np


def _scale(data, factor):
    return np.asarray(data) * np.asarray(factor)


def main():
    v = jnp.arange(3.0)
    s = jax.ShapeDtypeStruct(v.shape, v.dtype)
    a = jax.pure_callback(_scale, result_shape_dtypes=s, data=v, factor=jnp.float32(2))
    b = jax.pure_callback(result_shape_dtypes=s, callback=_scale, factor=v, data=v, vmap_method="sequential")
    print(a.tolist(), b.tolist())
