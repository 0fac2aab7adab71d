import bufcb
import jax
import jax.numpy as jnp
import numpy as np


def define():
    global _host

    def _host(ctx, out, x):
        x = np.asarray(x)
        out[...] = np.sin(x)
        return


def main():
    define()
    x = jnp.zeros(2)
    print(bufcb.buffer_callback(_host, jax.ShapeDtypeStruct(x.shape, x.dtype))(x).tolist())
