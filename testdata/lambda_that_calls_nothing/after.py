import bufcb
import jax
import jax.numpy as jnp
import numpy as np


def constant(x):
    table = np.arange(x.shape[0], dtype=np.float32)

    def _constant_host(ctx, out, _):
        bufcb.store(out, table)
        return

    return bufcb.buffer_callback(_constant_host, jax.ShapeDtypeStruct(x.shape, x.dtype))(x)


def main():
    print(constant(jnp.ones(3)).tolist())
