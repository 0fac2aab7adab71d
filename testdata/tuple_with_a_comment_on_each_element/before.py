import jax
import jax.numpy as jnp
import numpy as np


def _moments(x):
    x = np.asarray(x)
    centre = x.mean()
    return (
        # the first moment
        centre,
        np.square(x),  # per element
        # not normalised
    )


def moments(x):
    leaf = jax.ShapeDtypeStruct((), x.dtype)
    return jax.pure_callback(_moments, (leaf, jax.ShapeDtypeStruct(x.shape, x.dtype)), x)


def main():
    print([m.tolist() for m in moments(jnp.array([1.0, 2.0, 6.0]))])
