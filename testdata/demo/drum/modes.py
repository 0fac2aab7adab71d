"""Modes of the membrane on a radial grid."""

import jax
import jax.numpy as jnp
import numpy as np
from jax import pure_callback


def _solve_modes(stiffness):
    frequencies_squared, shapes = np.linalg.eigh(np.asarray(stiffness))
    # An eigenvector's sign is arbitrary: make its largest entry positive.
    largest = np.argmax(np.abs(shapes), axis=0)
    shapes = shapes * np.sign(shapes[largest, np.arange(shapes.shape[1])])
    return np.sqrt(frequencies_squared), shapes


def stiffness_matrix(points, tension):
    """Second differences with fixed ends, scaled by the tension in every point."""
    step = 1.0 / (points + 1)
    matrix = 2.0 * jnp.eye(points) - jnp.eye(points, k=1) - jnp.eye(points, k=-1)
    root = jnp.sqrt(tension)
    return root[:, None] * matrix * root[None, :] / step**2


@jax.jit
def modes(stiffness):
    """The frequencies, ascending, and the shapes as columns."""
    n = stiffness.shape[0]
    spec = (
        jax.ShapeDtypeStruct((n,), stiffness.dtype),   # frequencies
        jax.ShapeDtypeStruct((n, n), stiffness.dtype), # shapes
    )
    return pure_callback(
        _solve_modes,
        spec,
        stiffness,  # symmetric
        vmap_method="sequential",
    )


def compliance(stiffness):
    """How far each point yields to a force on each other one."""
    return pure_callback(
        np.linalg.inv, jax.ShapeDtypeStruct(stiffness.shape, stiffness.dtype), stiffness
    )
