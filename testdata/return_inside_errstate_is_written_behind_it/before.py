import jax
import jax.numpy as jnp
import numpy as np


def _safe_log(x):
    with np.errstate(divide="ignore"):
        # minus infinity for zero
        return np.log(x)  # natural


def main():
    x = jnp.array([0.0, 1.0])
    print(jax.pure_callback(_safe_log, jax.ShapeDtypeStruct((2,), jnp.float32), x).tolist())
