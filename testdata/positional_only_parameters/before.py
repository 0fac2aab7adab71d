import jax
import jax.numpy as jnp
import numpy as np


def _hypot(a, b, /):
    return np.hypot(a, b)


def main():
    a = jnp.array([3.0, 5.0])
    spec = jax.ShapeDtypeStruct(a.shape, a.dtype)
    print(jax.pure_callback(_hypot, spec, a, jnp.array([4.0, 12.0])).tolist())
