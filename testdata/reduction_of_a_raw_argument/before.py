import jax
import jax.numpy as jnp
import numpy as np


def _total(x):
    return np.asarray(np.sum(x))


def _middle(x):
    return np.asarray(x.mean())


def main():
    x = jnp.arange(4.0)
    spec = jax.ShapeDtypeStruct((), jnp.float32)
    print(float(jax.pure_callback(_total, spec, x)), float(jax.pure_callback(_middle, spec, x)))
