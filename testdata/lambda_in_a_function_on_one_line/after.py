import bufcb
import jax
import jax.numpy as jnp
import numpy as np

S = jax.ShapeDtypeStruct((2,), jnp.float32)


def _sin(ctx, out, v):
    v = np.asarray(v)
    out[...] = np.sin(v)
    return


def sine(x): return bufcb.buffer_callback(_sin, S)(x)


def power(x, n): return bufcb.buffer_callback(
    bufcb.adapt(lambda v: np.power(v, n), arrays="jax"), S
)(x)


def main():
    x = jnp.zeros(2)
    print(sine(x).tolist(), power(x, np.float32(2)).tolist())
