import jax
import jax.numpy as jnp
import numpy as np


def run(x, out, ctx):
    def host(v):
        return np.add(np.asarray(v), np.float32(ctx))

    return out + jax.pure_callback(host, jax.ShapeDtypeStruct(x.shape, x.dtype), x)


def main():
    print(run(jnp.ones(2), jnp.zeros(2), 3).tolist())
