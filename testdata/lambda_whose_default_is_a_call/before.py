import jax
import jax.numpy as jnp
import numpy as np


def scaled(x, rows):
    spec = jax.ShapeDtypeStruct(x.shape, x.dtype)
    return jax.pure_callback(lambda v, s=np.float32(len(rows)): np.multiply(v, s), spec, x)


def main():
    print(scaled(jnp.arange(3.0), [1, 2]).tolist())
