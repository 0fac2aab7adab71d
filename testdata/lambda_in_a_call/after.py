import bufcb
import jax
import jax.numpy as jnp
import numpy as np


def f(x):
    spec = jax.ShapeDtypeStruct(x.shape, x.dtype)

    def _sort(ctx, out, a):
        a = np.asarray(a)
        out[...] = np.sort(a)
        return

    y = bufcb.buffer_callback(_sort, spec, vmap_method="sequential")(x)  # sorted on the host
    return y * 2


def main():
    print(f(jnp.array([3.0, 1.0, 2.0])).tolist())
