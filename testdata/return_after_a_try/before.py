import jax
import jax.numpy as jnp
import numpy as np


def _inverse(a):
    matrix = np.asarray(a)
    try:
        inverse = np.linalg.inv(matrix)
    except np.linalg.LinAlgError:
        inverse = np.full((2, 2), np.nan, np.float32)
    finally:
        del matrix
    return np.negative(inverse)


def main():
    spec = jax.ShapeDtypeStruct((2, 2), jnp.float32)
    print(jax.pure_callback(_inverse, spec, jnp.eye(2)).tolist())
