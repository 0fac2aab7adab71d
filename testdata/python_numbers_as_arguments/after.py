import bufcb
import jax
import jax.numpy as jnp
import numpy as np


def _host(ctx, out, x, k):
    out[...] = np.asarray(x) * np.asarray(k)
    return


def _typed(ctx, out, k):
    out[...] = np.asarray(k.dtype.itemsize, np.int32)
    return


def main():
    s = jax.ShapeDtypeStruct((2,), jnp.float32)
    print(bufcb.buffer_callback(_host, s)(jnp.arange(2.0), 2.5).tolist())
    print(int(bufcb.buffer_callback(_typed, jax.ShapeDtypeStruct((), jnp.int32))(3)))
    print(int(bufcb.buffer_callback(_typed, jax.ShapeDtypeStruct((), jnp.int32))(np.float64(3))))
