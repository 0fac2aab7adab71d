import bufcb
import jax
import jax.numpy as jnp
import numpy as np


def run(x, out, ctx):
    def host(context, out, v):
        out[...] = np.add(np.asarray(v), np.float32(ctx))
        return

    return out + bufcb.buffer_callback(host, jax.ShapeDtypeStruct(x.shape, x.dtype))(x)


def main():
    print(run(jnp.ones(2), jnp.zeros(2), 3).tolist())
