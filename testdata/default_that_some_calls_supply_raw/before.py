import jax
import jax.numpy as jnp
import numpy as np


def _weighted(x, weights=np.ones(2, np.float32)):
    return np.multiply(x, weights)


def main():
    x = jnp.arange(2.0)
    spec = jax.ShapeDtypeStruct((2,), jnp.float32)
    print(jax.pure_callback(_weighted, spec, x).tolist(), jax.pure_callback(_weighted, spec, x, x).tolist())
