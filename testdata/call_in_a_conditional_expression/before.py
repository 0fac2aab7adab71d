import jax
import jax.numpy as jnp
import numpy as np


def wave(x, shift):
    spec = jax.ShapeDtypeStruct(x.shape, x.dtype)
    return jax.pure_callback(lambda v: np.cos(v), spec, x) if shift else jax.pure_callback(lambda v: np.sin(v), spec, x)


def main():
    x = jnp.zeros(2)
    print(wave(x, True).tolist(), wave(x, False).tolist())
