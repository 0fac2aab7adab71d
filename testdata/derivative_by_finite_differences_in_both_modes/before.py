import jax
import jax.numpy as jnp
import numpy as np


def _energy(x):
    return np.asarray(np.sum(np.cosh(np.unwrap(np.asarray(x)))), np.float32)


def energy(x):
    return jax.pure_callback(_energy, jax.ShapeDtypeStruct((), jnp.float32), x)


def main():
    x = jnp.array([0.5, 1.0])
    print(np.round(jax.grad(energy)(x), 2), round(float(jax.jvp(energy, (x,), (x,))[1]), 2))
