import jax
import jax.numpy as jnp
import numpy as np


def _negate(x):
    return np.negative(x)


def negate(x):
    spec = jax.ShapeDtypeStruct(x.shape, x.dtype)
    once = jax.pure_callback(_negate, spec, x)
    return jax.pure_callback(_negate, spec, once, vmap_method="expand_dims")


def main():
    print(negate(jnp.arange(2.0)).tolist())
