import jax
import jax.numpy as jnp
import numpy as np


def _sine(x):
    return np.sin(x)


def _cosine(x):
    return np.cos(x)


def wave(x, shifted):
    spec = jax.ShapeDtypeStruct(x.shape, x.dtype)
    return jax.pure_callback(_cosine if shifted else _sine, spec, x)


def main():
    x = jnp.zeros(2)
    print(wave(x, False).tolist(), wave(x, True).tolist())
