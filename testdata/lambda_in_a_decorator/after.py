import bufcb
import jax
import jax.numpy as jnp
import numpy as np


def offset_by(amount):
    return lambda function: lambda x: function(x) + amount


def _cbrt(ctx, out, v):
    v = np.asarray(v)
    out[...] = np.cbrt(v)
    return


@offset_by(bufcb.buffer_callback(_cbrt, jax.ShapeDtypeStruct((), jnp.float32))(jnp.float32(8)))
def identity(x):
    return x


def main():
    print(float(identity(1.0)))
