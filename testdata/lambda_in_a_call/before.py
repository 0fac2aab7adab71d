import jax
import jax.numpy as jnp
import numpy as np


def f(x):
    spec = jax.ShapeDtypeStruct(x.shape, x.dtype)
    y = jax.pure_callback(lambda a: np.sort(a), spec, x, vmap_method="sequential")  # sorted on the host
    return y * 2


def main():
    print(f(jnp.array([3.0, 1.0, 2.0])).tolist())
