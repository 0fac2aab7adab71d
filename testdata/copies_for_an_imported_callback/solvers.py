"""Iterative solvers."""

import numpy as np


def smoothing_matrix(size):
    """A symmetric matrix with twos on its diagonal."""
    matrix = 2 * np.eye(size, dtype=np.float32)
    off = np.arange(size - 1)
    matrix[off, off + 1] = -0.5
    matrix[off + 1, off] = -0.5
    return matrix


def jacobi(matrix, target, start_vector, relaxation, *, sweeps):
    matrix, target, x = map(np.asarray, (matrix, target, start_vector))
    weight = np.asarray(relaxation)

    def residual(x):
        return target - matrix @ x

    for _ in range(sweeps):
        x = x + weight * residual(x) / np.diag(matrix)
    return x.astype(np.float32)
