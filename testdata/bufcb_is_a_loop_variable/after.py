import bufcb as _bufcb
import jax
import jax.numpy as jnp
import numpy as np


def run(x):
    def host(ctx, out, v):
        v = np.asarray(v)
        out[...] = np.square(v)
        return

    return _bufcb.buffer_callback(host, jax.ShapeDtypeStruct(x.shape, x.dtype))(x)


def main():
    print(run(jnp.arange(3.0)).tolist())
    for bufcb in range(2):
        print(bufcb)
