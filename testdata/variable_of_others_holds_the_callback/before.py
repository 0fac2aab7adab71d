import jax
import jax.numpy as jnp
import numpy as np


def _sine(x):
    return np.sin(x)


sine = _sine  # others may import it


def call(x):
    return jax.pure_callback(sine, jax.ShapeDtypeStruct(x.shape, x.dtype), x)


def main():
    print(call(jnp.zeros(2)).tolist())
