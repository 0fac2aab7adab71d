import jax
import jax.numpy as jnp
import numpy as np


def _sine(x):
    return np.sin(x)


def main():
    x = jnp.zeros(4)
    total = (
        jax.pure_callback(_sine, jax.ShapeDtypeStruct(x.shape, x.dtype), x)
        .reshape(2, 2)  # two rows
        .sum(axis=0)
    )
    print(total.tolist())
