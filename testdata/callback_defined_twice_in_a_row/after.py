import bufcb
import jax
import jax.numpy as jnp
import numpy as np


def run(x, exact):
    spec = jax.ShapeDtypeStruct(x.shape, x.dtype)

    def host(ctx, out, v):
        v = np.asarray(v)
        out[...] = np.sin(v)
        return

    if not exact:

        def host(ctx, out, v):
            out[...] = np.asarray(v)
            return

    return bufcb.buffer_callback(host, spec)(x)


def main():
    x = jnp.ones(2)
    print(run(x, True).tolist(), run(x, False).tolist())
