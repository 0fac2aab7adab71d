import jax
import jax.numpy as jnp
import numpy as np


def _solve(a, b):
    try:
        return np.linalg.solve(a, b)
    except np.linalg.LinAlgError:
        return np.full(np.shape(b), np.nan, np.float32)


def main():
    b = jnp.ones(2)
    spec = jax.ShapeDtypeStruct(b.shape, b.dtype)
    print(jax.pure_callback(_solve, spec, jnp.eye(2), b).tolist())
    print(jax.pure_callback(_solve, spec, jnp.zeros((2, 2)), b).tolist())
