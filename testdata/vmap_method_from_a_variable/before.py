import jax
import jax.numpy as jnp
import numpy as np

METHOD = "expand_dims"


def _negate(x):
    return np.negative(x)


def negate(x):
    return jax.pure_callback(
        _negate,
        jax.ShapeDtypeStruct(x.shape, x.dtype),
        x,
        vmap_method=METHOD if x.ndim else "sequential",
    )


def main():
    print(jax.vmap(negate)(jnp.ones((2, 2))).tolist())
