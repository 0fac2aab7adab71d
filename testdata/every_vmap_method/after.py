import bufcb
import jax
import jax.numpy as jnp
import numpy as np


def _reversed(ctx, out, x):
    out[...] = np.flip(np.asarray(x), axis=-1)
    return


def run(x, how):
    spec = jax.ShapeDtypeStruct(x.shape, x.dtype)
    match how:
        case 0:
            return bufcb.buffer_callback(_reversed, spec, vmap_method="sequential")(x)
        case 1:
            return bufcb.buffer_callback(_reversed, spec, vmap_method="sequential_unrolled")(x)
        case 2:
            return bufcb.buffer_callback(_reversed, spec, vmap_method="expand_dims")(x)
        case 3:
            return bufcb.buffer_callback(_reversed, spec, vmap_method="broadcast_all")(x)
        case _:
            return bufcb.buffer_callback(_reversed, spec, vmap_method="legacy_vectorized")(x)


def main():
    x = jnp.arange(4.0).reshape(2, 2)
    for how in range(5):
        print(jax.vmap(lambda row, how=how: run(row, how))(x).tolist())
