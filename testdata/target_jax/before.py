import jax
import jax.numpy as jnp
import numpy as np


def _both(x):
    x = np.asarray(x)
    return np.sin(x), np.cos(x)


def _square(x):
    return np.square(x)


def main():
    x = jnp.zeros(2)
    spec = jax.ShapeDtypeStruct(x.shape, x.dtype)
    print([r.tolist() for r in jax.pure_callback(_both, (spec, spec), x)])
    print(jax.pure_callback(_square, spec, x, vmap_method="sequential").tolist())
