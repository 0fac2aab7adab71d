import jax
import jax.numpy as jnp
import numpy as np


def constant(x):
    table = np.arange(x.shape[0], dtype=np.float32)
    return jax.pure_callback(lambda _: table, jax.ShapeDtypeStruct(x.shape, x.dtype), x)


def main():
    print(constant(jnp.ones(3)).tolist())
