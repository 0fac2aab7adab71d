import jax
import jax.numpy as jnp
import numpy as np


class Constants:
    ones = jax.pure_callback(lambda v: np.ones_like(v), jax.ShapeDtypeStruct((2,), jnp.float32), jnp.zeros(2))


def main():
    print(Constants.ones.tolist())
