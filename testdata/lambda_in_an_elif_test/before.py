import jax
import jax.numpy as jnp
import numpy as np


def sign(x):
    spec = jax.ShapeDtypeStruct((), jnp.float32)
    if x is None:
        return 0
    elif float(jax.pure_callback(lambda v: np.sign(v), spec, x)) < 0:
        return -1
    return 1


def main():
    print(sign(None), sign(jnp.float32(-2)), sign(jnp.float32(2)))
