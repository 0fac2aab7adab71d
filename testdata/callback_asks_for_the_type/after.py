import bufcb
import jax
import jax.numpy as jnp
import numpy as np


def _as_float(x):
    if isinstance(x, jax.Array):
        x = np.asarray(x)
    return np.sqrt(x)


def _typed(x):
    return np.float32(1 if hasattr(x, "devices") else 0)


def main():
    x = jnp.array([4.0])
    print(bufcb.buffer_callback(
        bufcb.adapt(_as_float, arrays="jax"), jax.ShapeDtypeStruct((1,), jnp.float32)
    )(x).tolist())
    print(float(bufcb.buffer_callback(bufcb.adapt(_typed, arrays="jax"), jax.ShapeDtypeStruct((), jnp.float32))(x)))
