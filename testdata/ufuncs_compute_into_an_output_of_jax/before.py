import jax
import jax.numpy as jnp
import numpy as np


def _decay(t):
    t = np.asarray(t)
    return np.exp(np.negative(t))


def _phase(t):
    return np.remainder(t, 6.25)


def decay(t):
    return jax.pure_callback(_decay, jax.ShapeDtypeStruct(t.shape, t.dtype), t)


def phase(t):
    return jax.pure_callback(_phase, jax.ShapeDtypeStruct(t.shape, t.dtype), t)


def main():
    t = jnp.array([0.5, 8.0])
    print(decay(t), phase(t))
