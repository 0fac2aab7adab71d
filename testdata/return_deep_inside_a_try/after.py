import bufcb
import jax
import jax.numpy as jnp
import numpy as np


def _first_regular(stack):
    for matrix in np.asarray(stack):
        try:
            if matrix.any():
                return np.linalg.inv(matrix)
            continue
        except np.linalg.LinAlgError:
            pass
    return np.zeros((2, 2), np.float32)


def main():
    stack = jnp.stack([jnp.zeros((2, 2)), jnp.ones((2, 2)), jnp.eye(2)])
    print(bufcb.buffer_callback(
        bufcb.adapt(_first_regular, arrays="jax"), jax.ShapeDtypeStruct((2, 2), jnp.float32)
    )(stack).tolist())
