import bufcb
import jax
import jax.numpy as jnp
import numpy as np


def main():
    x = jnp.zeros(2)

    def host(ctx, out, v):
        v = np.asarray(v)
        out[...] = np.sin(v)
        return

    y = bufcb.buffer_callback(host, jax.ShapeDtypeStruct(x.shape, x.dtype))(x)
    del host
    print(y.tolist())
