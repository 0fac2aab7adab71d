import bufcb
import jax
import jax.numpy as jnp
import numpy as np


def _stack(ctx, out, first, *rest):
    out[...] = np.stack([np.asarray(first), *(np.asarray(r) for r in rest)])
    return


def stack(arrays):
    spec = jax.ShapeDtypeStruct((len(arrays), *arrays[0].shape), arrays[0].dtype)
    return bufcb.buffer_callback(_stack, spec)(*arrays)


def main():
    print(stack([jnp.arange(2.0), jnp.ones(2), jnp.zeros(2)]).tolist())
