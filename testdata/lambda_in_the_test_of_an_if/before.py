import jax
import jax.numpy as jnp
import numpy as np


def describe(x):
    spec = jax.ShapeDtypeStruct((), jnp.int32)
    if int(jax.pure_callback(lambda v: np.count_nonzero(v).astype(np.int32), spec, x)) > 1:
        return "dense"
    return "sparse"


def main():
    print(describe(jnp.array([1.0, 0.0, 2.0])), describe(jnp.zeros(3)))
