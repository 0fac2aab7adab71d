import jax
import jax.numpy as jnp
import numpy as np


def _blend(a, b):
    ctx = np.asarray(a)
    out = np.asarray(b)
    out_buffer = np.add(ctx, out)
    return out_buffer / np.float32(2)


def blend(a, b):
    return jax.pure_callback(_blend, jax.ShapeDtypeStruct(a.shape, a.dtype), a, b)


def main():
    print(blend(jnp.ones(3), jnp.arange(3.0)).tolist())
