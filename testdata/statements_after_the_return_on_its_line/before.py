import jax
import jax.numpy as jnp
import numpy as np


def _twice(x):
    x = np.asarray(x); return x + x;  # noqa: E702,E703


def main():
    x = jnp.arange(2.0)
    print(jax.pure_callback(_twice, jax.ShapeDtypeStruct(x.shape, x.dtype), x).tolist())
