import bufcb
import jax
import jax.numpy as jnp
import numpy as np


def _norm(x):
    return np.asarray(jnp.linalg.norm(x))


def main():
    x = jnp.array([3.0, 4.0])
    print(float(bufcb.buffer_callback(bufcb.adapt(_norm, arrays="jax"), jax.ShapeDtypeStruct((), jnp.float32))(x)))
