from jax import ShapeDtypeStruct, pure_callback
import bufcb
import jax.numpy as jnp
import numpy as np

__all__ = ["pure_callback", "square"]


def _host(ctx, out, x):
    x = np.asarray(x)
    out[...] = np.square(x)
    return


def square(x):
    return bufcb.buffer_callback(_host, ShapeDtypeStruct(x.shape, x.dtype))(x)


def main():
    print(square(jnp.arange(3.0)).tolist())
