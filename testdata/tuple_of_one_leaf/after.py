import bufcb
import jax
import jax.numpy as jnp
import numpy as np


def _trace(ctx, out, matrix):
    out[0][...] = np.trace(np.asarray(matrix))
    return


def main():
    (trace,) = bufcb.buffer_callback(_trace, (jax.ShapeDtypeStruct((), jnp.float32),))(jnp.eye(3))
    print(float(trace))
