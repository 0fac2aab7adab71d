import jax
import jax.numpy as jnp
import numpy as np


def outer(x):
    spec = jax.ShapeDtypeStruct(x.shape, x.dtype)

    def _middle(v):
        def _inner(w):
            return np.square(w)

        return np.asarray(jax.pure_callback(_inner, spec, v)) + np.float32(1)

    return jax.pure_callback(_middle, spec, x)


def main():
    print(outer(jnp.arange(3.0)).tolist())
