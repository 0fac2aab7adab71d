import bufcb
import jax
import jax.numpy as jnp
import numpy as np


def main():
    x, spec = jnp.float32(3), jax.ShapeDtypeStruct((), jnp.float32)

    def _negative(ctx, out, v):
        v = np.asarray(v)
        bufcb.store(out, np.negative(v))
        return

    while float(bufcb.buffer_callback(_negative, spec)(x)) < 0:
        x = x - 1
    print(float(x))
