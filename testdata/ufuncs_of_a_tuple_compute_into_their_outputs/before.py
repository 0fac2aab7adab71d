import jax
import jax.numpy as jnp
import numpy as np


def _summary(x, y):
    return (
        np.hypot(x, x),
        np.isfinite(x),  # of another dtype
        np.add(x, y),  # of both shapes
        np.sin(y),  # of its own
    )


def _waves(x):
    return {"sin": np.sin(x), "cos": np.cos(x)}


def summary(x, y):
    like_x = jax.ShapeDtypeStruct(x.shape, x.dtype)
    like_y = jax.ShapeDtypeStruct(y.shape, y.dtype)
    finite = jax.ShapeDtypeStruct(x.shape, jnp.bool_)
    return jax.pure_callback(_summary, (like_x, finite, like_x, like_y), x, y)


def waves(x):
    like = jax.ShapeDtypeStruct(x.shape, x.dtype)
    return jax.pure_callback(_waves, {"cos": like, "sin": like}, x)


def main():
    x = jnp.array([3.0, 4.0])
    print(summary(x, x[:1]), waves(x))
