import jax
import jax.numpy as jnp
import numpy as np


def _trace(matrix):
    return (np.trace(np.asarray(matrix)),)


def main():
    (trace,) = jax.pure_callback(_trace, (jax.ShapeDtypeStruct((), jnp.float32),), jnp.eye(3))
    print(float(trace))
