import jax
import jax.numpy as jnp
import numpy as np


def _sine(x):
    return np.sin(x)


def waves(x):
    spec = jax.ShapeDtypeStruct(x.shape, x.dtype)
    yield jax.pure_callback(_sine, spec, x)
    yield from [jax.pure_callback(lambda v: np.cos(v), spec, x)]


def main():
    print([y.tolist() for y in waves(jnp.zeros(2))])
