import bufcb
import jax
import jax.numpy as jnp
import numpy as np


class Constants:
    ones = bufcb.buffer_callback(bufcb.adapt(lambda v: np.ones_like(v), arrays="jax"), jax.ShapeDtypeStruct((2,), jnp.float32))(jnp.zeros(2))


def main():
    print(Constants.ones.tolist())
