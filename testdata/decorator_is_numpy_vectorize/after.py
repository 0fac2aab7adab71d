import bufcb
import jax
import jax.numpy as jnp
import numpy as np


@np.vectorize
def _step(value):
    return np.float32(1.0 if value > 0 else 0.0)


def main():
    x = jnp.arange(-1.0, 2.0)
    print(bufcb.buffer_callback(bufcb.adapt(_step), jax.ShapeDtypeStruct(x.shape, x.dtype))(x).tolist())
