import functools

import jax
import jax.numpy as jnp
import solvers


def relaxed(matrix, b, w):
    spec = jax.ShapeDtypeStruct(b.shape, b.dtype)
    return jax.pure_callback(functools.partial(solvers.jacobi, sweeps=40), spec, matrix, b, 0 * b, w)


def main():
    b = jnp.ones(4)
    matrix = jnp.asarray(solvers.smoothing_matrix(4))
    print(jnp.round(matrix @ relaxed(matrix, b, jnp.float32(1)), 3).tolist())
