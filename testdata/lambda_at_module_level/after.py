import bufcb
import jax
import jax.numpy as jnp
import numpy as np

X = jnp.array([2.0, 8.0])


def _log2(ctx, out, x):
    x = np.asarray(x)
    out[...] = np.log2(x)
    return


LOGS = bufcb.buffer_callback(_log2, jax.ShapeDtypeStruct((2,), jnp.float32))(X)


def main():
    print(LOGS.tolist())
