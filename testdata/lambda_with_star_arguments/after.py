import bufcb
import jax
import jax.numpy as jnp
import numpy as np


def total(*arrays):
    spec = jax.ShapeDtypeStruct(arrays[0].shape, arrays[0].dtype)

    def _reduce(ctx, out, *a):
        bufcb.store(out, np.add.reduce([np.asarray(v) for v in a]))
        return

    return bufcb.buffer_callback(_reduce, spec)(*arrays)


def main():
    print(total(jnp.ones(2), jnp.arange(2.0)).tolist())
