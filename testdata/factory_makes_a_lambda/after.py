import bufcb
import jax
import jax.numpy as jnp
import numpy as np


def _power(exponent):
    def _power_host(ctx, out, x):
        x = np.asarray(x)
        out[...] = np.power(x, np.float32(exponent))
        return

    return _power_host


def main():
    x = jnp.arange(3.0)
    cube = _power(3)
    print(bufcb.buffer_callback(cube, jax.ShapeDtypeStruct(x.shape, x.dtype))(x).tolist())
