import bufcb
import jax
import jax.numpy as jnp
import numpy as np

X = jnp.arange(2.0)
SPEC = jax.ShapeDtypeStruct(X.shape, X.dtype)


def main():
    print(RESULT.tolist(), square(np.float32(3)))


def square(x):
    return np.square(x)


def _square_into(ctx, out, x):
    out[...] = square(np.asarray(x))
    return


RESULT = bufcb.buffer_callback(_square_into, SPEC)(X) if X.size else bufcb.buffer_callback(bufcb.adapt(np.negative), SPEC)(X)