import jax
import jax.numpy as jnp
import numpy as np


def _rows(matrix):
    matrix = np.asarray(matrix)
    return (matrix[0], *matrix[1:])


def main():
    row = jax.ShapeDtypeStruct((2,), jnp.float32)
    print([r.tolist() for r in jax.pure_callback(_rows, (row, row), jnp.eye(2))])
