import os
import tempfile

import bufcb
import jax
import jax.numpy as jnp
import numpy as np

PATH = os.path.join(tempfile.mkdtemp(), "scale.txt")


def _scaled(ctx, out, x):
    x = np.asarray(x)
    with open(PATH) as file:
        out[...] = np.multiply(x, np.float32(file.read()))
        return


def main():
    with open(PATH, "w") as file:
        file.write("2.5")
    x = jnp.arange(2.0)
    print(bufcb.buffer_callback(_scaled, jax.ShapeDtypeStruct(x.shape, x.dtype))(x).tolist())
    os.remove(PATH)
