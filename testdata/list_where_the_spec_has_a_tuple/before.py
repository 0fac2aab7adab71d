import jax
import jax.numpy as jnp
import numpy as np


def _pair(x):
    x = np.asarray(x)
    return [x, np.negative(x)]


def main():
    spec = jax.ShapeDtypeStruct((2,), jnp.float32)
    first, second = jax.pure_callback(_pair, (spec, spec), jnp.arange(2.0))
    print(first.tolist(), second.tolist())
