import jax
import jax.numpy as jnp
import numpy as np


def _standardize(x):
    """Moves each row to mean 0 and variance 1."""
    x = np.asarray(x)
    x = x - x.mean(axis=-1, keepdims=True)
    deviation = np.sqrt(np.mean(x**2, axis=-1, keepdims=True))
    return x / deviation


def standardized(z):
    return jax.pure_callback(_standardize, jax.ShapeDtypeStruct(z.shape, z.dtype), z)


def main():
    z = jnp.array([[1.0, 2.0, 4.0]])
    gradient = jax.grad(lambda z: jnp.sum(standardized(z) ** 3))(z)
    print(np.round(gradient, 4))
