import jax
import jax.numpy as jnp
import numpy as np


def _host(np_array, np):
    return np_array.reshape(-1), np.ravel()


def main():
    x = jnp.ones((1, 2))
    flat = jax.ShapeDtypeStruct((2,), jnp.float32)
    print([r.tolist() for r in jax.pure_callback(_host, (flat, flat), x, x)], np.pi > 3)
