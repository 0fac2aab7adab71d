import jax
import jax.numpy as jnp
import numpy as np


def _reversed(x):
    return np.flip(np.asarray(x), axis=-1)


def run(x, how):
    spec = jax.ShapeDtypeStruct(x.shape, x.dtype)
    match how:
        case 0:
            return jax.pure_callback(_reversed, spec, x, vmap_method="sequential")
        case 1:
            return jax.pure_callback(_reversed, spec, x, vmap_method="sequential_unrolled")
        case 2:
            return jax.pure_callback(_reversed, spec, x, vmap_method="expand_dims")
        case 3:
            return jax.pure_callback(_reversed, spec, x, vmap_method="broadcast_all")
        case _:
            return jax.pure_callback(_reversed, spec, x, vmap_method="legacy_vectorized")


def main():
    x = jnp.arange(4.0).reshape(2, 2)
    for how in range(5):
        print(jax.vmap(lambda row, how=how: run(row, how))(x).tolist())
