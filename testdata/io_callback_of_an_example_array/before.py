import jax
import jax.experimental as experimental
import jax.numpy as jnp
import numpy as np


def _root(x):
    return np.sqrt(x)


def root(x):
    return experimental.io_callback(_root, x, x, sharding=None)


def main():
    print(jax.jit(root)(jnp.arange(4.0)).tolist())
