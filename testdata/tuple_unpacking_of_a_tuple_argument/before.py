import jax
import jax.numpy as jnp
import numpy as np


def _line(points):
    (x0, y0), (x1, y1) = points
    return np.float32((float(y1) - float(y0)) / (float(x1) - float(x0)))


def main():
    points = ((jnp.float32(0), jnp.float32(1)), (jnp.float32(2), jnp.float32(5)))
    print(float(jax.pure_callback(_line, jax.ShapeDtypeStruct((), jnp.float32), points)))
