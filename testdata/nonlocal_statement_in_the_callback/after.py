import bufcb
import jax
import jax.numpy as jnp
import numpy as np


def counted(x):
    calls = 0

    def host(ctx, out, v):
        v = np.asarray(v)
        nonlocal calls
        calls += 1
        out[...] = np.sin(v)
        return

    y = bufcb.buffer_callback(host, jax.ShapeDtypeStruct(x.shape, x.dtype))(x)
    return y.tolist(), calls


def main():
    print(counted(jnp.zeros(2)))
