import bufcb
import jax
import jax.numpy as jnp
import numpy as np


def main():
    x = jnp.eye(2)
    print(bufcb.buffer_callback(
        bufcb.adapt(np.linalg.inv, arrays="jax"), jax.ShapeDtypeStruct(x.shape, x.dtype)
    )(x).tolist())
