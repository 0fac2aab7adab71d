import jax
import jax.numpy as jnp
import numpy as np


def shifted(x):
    spec = jax.ShapeDtypeStruct(x.shape, x.dtype)
    return [jax.pure_callback(lambda v: np.roll(v, k), spec, x) for k in range(3)]


def main():
    print([s.tolist() for s in shifted(jnp.arange(3.0))])
