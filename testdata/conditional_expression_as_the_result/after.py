import bufcb
import jax
import jax.numpy as jnp
import numpy as np


def _log_or_zero(ctx, out, x):
    x = np.asarray(x)
    out[...] = np.log(x) if np.all(x > 0) else np.zeros_like(x)
    return


def log_or_zero(x):
    return bufcb.buffer_callback(_log_or_zero, jax.ShapeDtypeStruct(x.shape, x.dtype))(x)


def main():
    print(log_or_zero(jnp.array([1.0, 4.0])).tolist())
    print(log_or_zero(jnp.array([1.0, -4.0])).tolist())
