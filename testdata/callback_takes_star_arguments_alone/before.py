import jax
import jax.numpy as jnp
import numpy as np


def _sum(*terms):
    return np.asarray(sum(np.asarray(t) for t in terms), np.float32)


def main():
    x = jnp.ones(2)
    print(jax.pure_callback(_sum, jax.ShapeDtypeStruct((2,), jnp.float32), x, x).tolist())
