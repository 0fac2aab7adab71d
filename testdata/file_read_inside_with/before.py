import os
import tempfile

import jax
import jax.numpy as jnp
import numpy as np

PATH = os.path.join(tempfile.mkdtemp(), "scale.txt")


def _scaled(x):
    with open(PATH) as file:
        return np.multiply(x, np.float32(file.read()))


def main():
    with open(PATH, "w") as file:
        file.write("2.5")
    x = jnp.arange(2.0)
    print(jax.pure_callback(_scaled, jax.ShapeDtypeStruct(x.shape, x.dtype), x).tolist())
    os.remove(PATH)
