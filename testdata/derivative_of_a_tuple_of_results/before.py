import jax
import jax.numpy as jnp
import numpy as np


def _solve(a, b):
    a = np.asarray(a)
    sign, logdet = np.linalg.slogdet(a)
    return np.linalg.solve(a, np.asarray(b)), sign * logdet


def loss(a, b):
    spec = (jax.ShapeDtypeStruct(b.shape, b.dtype), jax.ShapeDtypeStruct((), a.dtype))
    x, logdet = jax.pure_callback(_solve, spec, a, b)
    return x @ x + logdet


def main():
    for gradient in jax.jacfwd(loss, argnums=(0, 1))(2 * jnp.eye(2), jnp.ones(2)):
        print(np.round(gradient, 4))
