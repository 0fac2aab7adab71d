import bufcb
import jax
import jax.numpy as jnp
import numpy as np


def sign(x):
    spec = jax.ShapeDtypeStruct((), jnp.float32)

    def _sign(ctx, out, v):
        v = np.asarray(v)
        out[...] = np.sign(v)
        return

    if x is None:
        return 0
    elif float(bufcb.buffer_callback(_sign, spec)(x)) < 0:
        return -1
    return 1


def main():
    print(sign(None), sign(jnp.float32(-2)), sign(jnp.float32(2)))
