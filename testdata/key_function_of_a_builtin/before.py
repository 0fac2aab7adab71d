import jax
import jax.numpy as jnp
import numpy as np


def _sorted(x):
    return np.stack(sorted(np.asarray(x), key=lambda v: -float(v)))


def main():
    x = jnp.array([1.0, 3.0, 2.0])
    print(jax.pure_callback(_sorted, jax.ShapeDtypeStruct(x.shape, x.dtype), x).tolist())
