import bufcb
import jax
import jax.numpy as jnp
import numpy as np


def _safe_log(ctx, out, x):
    x = np.asarray(x)
    with np.errstate(divide="ignore"):
        # minus infinity for zero
        result = np.log(x)  # natural
    out[...] = result
    return


def main():
    x = jnp.array([0.0, 1.0])
    print(bufcb.buffer_callback(_safe_log, jax.ShapeDtypeStruct((2,), jnp.float32))(x).tolist())
