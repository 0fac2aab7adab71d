import bufcb
import jax
import jax.numpy as jnp
import numpy as np


def _rows(ctx, out, matrix):
    matrix = np.asarray(matrix)
    bufcb.store(out, (matrix[0], *matrix[1:]))
    return


def main():
    row = jax.ShapeDtypeStruct((2,), jnp.float32)
    print([r.tolist() for r in bufcb.buffer_callback(_rows, (row, row))(jnp.eye(2))])
