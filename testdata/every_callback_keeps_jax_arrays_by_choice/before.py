import jax
import jax.numpy as jnp
import numpy as np


def _double(x):
    return np.asarray(x) * np.float32(2)


def main():
    x = jnp.arange(4.0).reshape(2, 2) + jnp.eye(2)
    spec = jax.ShapeDtypeStruct(x.shape, x.dtype)
    print(jax.pure_callback(_double, spec, x).tolist())
