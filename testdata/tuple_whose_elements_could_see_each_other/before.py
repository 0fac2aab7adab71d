import jax
import jax.numpy as jnp
import numpy as np

_CALLS = []


def _low(values):
    _CALLS.append("low")
    return np.minimum.reduce(values)


def _high(values):
    _CALLS.append("high")
    return np.maximum.reduce(values)


def _bounds(x):
    x = np.asarray(x)
    return _low(x), _high(x)


def main():
    leaf = jax.ShapeDtypeStruct((), jnp.float32)
    low, high = jax.pure_callback(_bounds, (leaf, leaf), jnp.array([3.0, 1.0, 2.0]))
    print(float(low), float(high), _CALLS)
