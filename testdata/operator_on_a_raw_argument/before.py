import jax
import jax.numpy as jnp
import numpy as np


def _half(x):
    return np.asarray(x // 2)


def main():
    x = jnp.array([5, -5])
    print(jax.pure_callback(_half, jax.ShapeDtypeStruct(x.shape, x.dtype), x).tolist())
