import jax
import jax.numpy as jnp
import numpy as np


def _weights(n):
    return np.arange(3, dtype=np.float32) / np.float32(int(n))


def main():
    print(jax.pure_callback(_weights, jnp.zeros(3, jnp.float32), jnp.int32(2)).tolist())
