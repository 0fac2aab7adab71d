import jax
import jax.numpy as jnp
from numpy import asarray, float32, multiply


def _doubled(x):
    return multiply(x, float32(2))


def _halved(x):
    x = asarray(x)
    return multiply(x, float32(0.5))


def main():
    x = jnp.arange(2.0)
    spec = jax.ShapeDtypeStruct(x.shape, x.dtype)
    print(jax.pure_callback(_doubled, spec, x).tolist(), jax.pure_callback(_halved, spec, x).tolist())
