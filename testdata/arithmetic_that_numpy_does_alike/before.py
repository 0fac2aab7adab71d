import jax
import jax.numpy as jnp
import numpy as np


def _line(x, y):
    inside = x > 0
    return np.where(inside, x * 2 + 1, x - y)


def line(x):
    spec = jax.ShapeDtypeStruct(x.shape, x.dtype)
    return jax.pure_callback(_line, spec, jnp.sin(x).astype(jnp.float32), jnp.cos(x).astype(jnp.float32))


def main():
    print(np.round(line(jnp.array([1.0, -1.0])), 5).tolist())
