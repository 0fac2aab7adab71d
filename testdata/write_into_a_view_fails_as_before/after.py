import bufcb
import jax
import jax.numpy as jnp
import numpy as np


def _bump(ctx, out, x):
    x = np.asarray(x)
    x[0] = 5.0
    out[...] = np.square(x)
    return


def main():
    x = jnp.arange(2.0)
    try:
        print(bufcb.buffer_callback(_bump, jax.ShapeDtypeStruct((2,), jnp.float32))(x))
    except Exception as error:
        print("assignment destination is read-only" in str(error), x.tolist())
