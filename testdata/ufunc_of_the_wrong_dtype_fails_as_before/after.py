import bufcb
import jax
import jax.numpy as jnp
import numpy as np


def _sine(ctx, out, x):
    x = np.asarray(x)
    np.sin(x, out=np.asarray(out), casting="no")
    return


def _tripled(ctx, out, x):
    x = np.asarray(x)
    np.multiply(x, 3, out=np.asarray(out), casting="no")
    return


def sine(x):
    return bufcb.buffer_callback(_sine, jax.ShapeDtypeStruct(x.shape, x.dtype))(x)


def tripled(x):
    return bufcb.buffer_callback(_tripled, jax.ShapeDtypeStruct(x.shape, x.dtype))(x)


def main():
    for dtype in (jnp.float32, jnp.float16, jnp.bfloat16, jnp.int32, jnp.int4, jnp.bool_):
        for function in (sine, tripled):
            try:
                print(dtype.__name__, jax.block_until_ready(function(jnp.ones(2, dtype))))
            except Exception:
                print(dtype.__name__, "fails")
