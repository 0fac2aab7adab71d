import bufcb
import jax
import jax.numpy as jnp
import numpy as np


def _short(x):
    return np.asarray(x)[:1]


def _short_into(ctx, out, x):
    out[...] = _short(np.asarray(x))
    return


def _double(x):
    return np.asarray(x).astype(np.int32)


def _double_into(ctx, out, x):
    out[...] = _double(np.asarray(x))
    return


def main():
    x = jnp.array([1.0, 2.0])
    spec = jax.ShapeDtypeStruct(x.shape, x.dtype)
    for host in (_short, _double):
        try:
            print(bufcb.buffer_callback(bufcb.adapt(host, arrays="jax"), spec)(x))
        except Exception as error:
            print("Incorrect output" in str(error))
    try:
        print(bufcb.buffer_callback(_short_into, spec)(x))
    except Exception as error:
        print("Incorrect output shape for return value #0" in str(error))
    try:
        print(bufcb.buffer_callback(_double_into, spec)(x))
    except Exception as error:
        print("Incorrect output dtype for return value #0" in str(error))
