import jax
import jax.numpy as jnp
import numpy as np


def _fifth(x):
    return np.asarray(x[4])


def main():
    print(float(jax.pure_callback(_fifth, jax.ShapeDtypeStruct((), jnp.float32), jnp.arange(3.0))))
