import bufcb
import jax
import jax.numpy as jnp
import numpy as np


def _factorial(n):
    n = int(n)
    return np.int32(1 if n < 2 else n * _factorial(n - 1))


def _factorial_into(ctx, out, n):
    out[...] = _factorial(np.asarray(n))
    return


def main():
    print(int(bufcb.buffer_callback(_factorial_into, jax.ShapeDtypeStruct((), jnp.int32))(jnp.int32(5))))
