import jax
import jax.numpy as jnp
import numpy as np


def _scaled(values, factor):
    return np.multiply(values, factor)


def _trimmed(values):
    return values[:2]


def _host(x):
    return _scaled(_trimmed(x), np.float32(2))


def main():
    x = jnp.arange(3.0)
    print(jax.pure_callback(_host, jax.ShapeDtypeStruct((2,), jnp.float32), x).tolist())
