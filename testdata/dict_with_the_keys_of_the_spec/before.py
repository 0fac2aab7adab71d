import jax
import jax.numpy as jnp
import numpy as np


def _polar(x, y):
    return {"angle": np.arctan2(y, x), "radius": np.hypot(x, y)}


def polar(x, y):
    spec = jax.ShapeDtypeStruct(x.shape, x.dtype)
    return jax.pure_callback(_polar, {"radius": spec, "angle": spec}, x, y)


def main():
    found = polar(jnp.array([3.0]), jnp.array([4.0]))
    print({name: np.round(value, 5).tolist() for name, value in found.items()})
