import jax
import jax.numpy as jnp
import numpy as np


def _half(x):
    return np.asarray(x // 2)


def main():
    x = jnp.array([5, -5])
    spec = jax.ShapeDtypeStruct(x.shape, x.dtype)
    print(jax.pure_callback(_half, spec, x).tolist())
    print(jax.pure_callback(lambda v: np.negative(v), spec, x).tolist())
