import jax
import jax.numpy as jnp
import numpy as np


def _pin(x):
    return np.asarray(x.at[0].set(1.0))


def main():
    x = jnp.zeros(2)
    print(jax.pure_callback(_pin, jax.ShapeDtypeStruct((2,), jnp.float32), x).tolist())
