import jax
import jax.numpy as jnp
import numpy as np


def _logarithm(x):
    with np.errstate(divide="raise"):
        try:
            return np.log(x)
        except FloatingPointError:
            return np.full_like(x, -1.0)


def _half(x):
    return np.divide(x, 2, dtype=np.float32)


def _rounded(x):
    result = np.rint(x)
    return result


def run(x):
    spec = jax.ShapeDtypeStruct(x.shape, x.dtype)
    logarithm = jax.pure_callback(_logarithm, spec, x)
    half = jax.pure_callback(_half, spec, x)
    return logarithm, half, jax.pure_callback(_rounded, spec, x)


def main():
    print(run(jnp.array([0.0, 1.5])), run(jnp.array([1.0, 2.5])))
