import bufcb
import jax
import jax.numpy as jnp
import numpy as np

LATER = []


def _defer(ctx, out, x):
    x = np.array(x)
    LATER.append(lambda: float(x.sum()))
    out[...] = np.square(x)
    return


def main():
    x = jnp.arange(3.0)
    print(bufcb.buffer_callback(_defer, jax.ShapeDtypeStruct(x.shape, x.dtype))(x).tolist())
    print([later() for later in LATER])
