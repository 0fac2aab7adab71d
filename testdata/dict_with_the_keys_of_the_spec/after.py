import bufcb
import jax
import jax.numpy as jnp
import numpy as np


def _polar(ctx, out, x, y):
    x, y = np.asarray(x), np.asarray(y)
    out["angle"][...] = np.arctan2(y, x)
    out["radius"][...] = np.hypot(x, y)
    return


def polar(x, y):
    spec = jax.ShapeDtypeStruct(x.shape, x.dtype)
    return bufcb.buffer_callback(_polar, {"radius": spec, "angle": spec})(x, y)


def main():
    found = polar(jnp.array([3.0]), jnp.array([4.0]))
    print({name: np.round(value, 5).tolist() for name, value in found.items()})
