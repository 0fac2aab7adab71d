import bufcb
import jax
import jax.numpy as jnp
import numpy as np


def run(x):
    def host(v):
        return np.square(v)

    def _host_into(ctx, out, v):
        out[...] = host(np.asarray(v))
        return

    check = host(np.float32(2))
    y = bufcb.buffer_callback(_host_into, jax.ShapeDtypeStruct(x.shape, x.dtype))(x)
    return y, float(check)


def main():
    print(run(jnp.arange(3.0))[0].tolist())
