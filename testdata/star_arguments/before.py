import jax
import jax.numpy as jnp
import numpy as np


def _stack(first, *rest):
    return np.stack([np.asarray(first), *(np.asarray(r) for r in rest)])


def stack(arrays):
    spec = jax.ShapeDtypeStruct((len(arrays), *arrays[0].shape), arrays[0].dtype)
    return jax.pure_callback(_stack, spec, *arrays)


def main():
    print(stack([jnp.arange(2.0), jnp.ones(2), jnp.zeros(2)]).tolist())
