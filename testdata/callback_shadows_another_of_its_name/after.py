import bufcb
import jax
import jax.numpy as jnp
import numpy as np


def host(x):
    return np.cos(x)


def run(x):
    def host(ctx, out, x):
        x = np.asarray(x)
        out[...] = np.sin(x)
        return

    return bufcb.buffer_callback(host, jax.ShapeDtypeStruct(x.shape, x.dtype))(x)


def main():
    x = jnp.zeros(2)
    print(run(x).tolist(), host(0.0))
