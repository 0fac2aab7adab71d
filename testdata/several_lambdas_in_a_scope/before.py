import jax
import jax.numpy as jnp
import numpy as np


def both_ends(x):
    spec = jax.ShapeDtypeStruct((), x.dtype)
    low = jax.pure_callback(lambda v: np.sort(np.asarray(v))[0], spec, x)
    high = jax.pure_callback(lambda v: np.sort(np.asarray(v))[-1], spec, x)
    return low, high


def main():
    low, high = both_ends(jnp.array([3.0, 1.0, 2.0]))
    print(float(low), float(high))
