import bufcb
import jax
import jax.numpy as jnp
import numpy as np


def constant(x):
    table = np.arange(x.shape[0], dtype=np.float32)

    def _callback(ctx, out, _):
        bufcb.store(out, table)
        return

    return bufcb.buffer_callback(_callback, jax.ShapeDtypeStruct(x.shape, x.dtype))(x)


def main():
    print(constant(jnp.ones(3)).tolist())
