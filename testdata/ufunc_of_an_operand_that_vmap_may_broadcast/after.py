import bufcb
import jax
import jax.numpy as jnp
import numpy as np


def _scaled(ctx, out, x, seed):
    x = np.asarray(x)
    out[...] = np.multiply(x, 2.0)
    return


def scaled(x, seed):
    spec = jax.ShapeDtypeStruct(x.shape, x.dtype)
    return bufcb.buffer_callback(_scaled, spec, vmap_method="expand_dims")(x, seed)


def main():
    x, seeds = jnp.array([1.0, 2.0]), jnp.arange(3)
    print(scaled(x, 0), jax.vmap(scaled)(jnp.stack([x] * 3), seeds))
    try:
        print(jax.vmap(scaled, in_axes=(None, 0))(x, seeds))
    except Exception as error:
        print("Incorrect output shape for return value #0" in str(error))
