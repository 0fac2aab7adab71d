import jax
import jax.numpy as jnp
import numpy as np


def _statistics(x):
    x = np.asarray(x)
    if x.size == 0:
        return np.zeros((), np.float32)
    if x.ndim > 1:
        return np.max(np.cumsum(x))
    return np.sum(x)


def _grid(n):
    return np.arange(3, dtype=np.float32)


def main():
    scalar = jax.ShapeDtypeStruct((), jnp.float32)
    for x in (jnp.zeros(0), jnp.ones((2, 2)), jnp.ones(2)):
        print(float(jax.pure_callback(_statistics, scalar, x)))
    print(jax.pure_callback(_grid, jax.ShapeDtypeStruct((3,), jnp.float32), jnp.int32(3)).tolist())
