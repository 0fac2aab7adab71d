import jax
import jax.numpy as jnp
import numpy as np


def _scale(x: jax.Array, factor=2.0) -> jax.Array:
    return np.multiply(x, np.float32(factor))


def main():
    x = jnp.arange(3.0)
    print(jax.pure_callback(_scale, jax.ShapeDtypeStruct(x.shape, x.dtype), x).tolist())
