import jax
import jax.numpy as jnp
import numpy as np


def _ones():
    return np.ones(2, np.float32)


def shifted(by):
    return lambda function: lambda x: function(x) + by


@shifted(jax.pure_callback(_ones, jax.ShapeDtypeStruct((2,), jnp.float32)))
def scaled(x, by=jax.pure_callback(lambda: np.full(2, 3, np.float32), jax.ShapeDtypeStruct((2,), jnp.float32))):
    return x * by


def main():
    print(scaled(jnp.ones(2)).tolist())
