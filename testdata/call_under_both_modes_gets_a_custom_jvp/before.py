import jax
import jax.numpy as jnp
import numpy as np


def _energy(x, scale):
    return np.asarray(np.sum(np.rint(np.asarray(x))) * np.asarray(scale), np.float32)


def energy(x):
    return jax.pure_callback(_energy, jax.ShapeDtypeStruct((), jnp.float32), x, 0.5)


curvature = jax.hessian(energy)


def main():
    print(energy(jnp.arange(3.0)))
