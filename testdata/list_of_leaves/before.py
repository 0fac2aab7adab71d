import jax
import jax.numpy as jnp
import numpy as np


def _halves(x):
    left = np.asarray(x)[:2]
    right = np.asarray(x)[2:]
    return [left.copy(), right.copy()]


def main():
    half = jax.ShapeDtypeStruct((2,), jnp.float32)
    print([h.tolist() for h in jax.pure_callback(_halves, [half, half], jnp.arange(4.0))])
