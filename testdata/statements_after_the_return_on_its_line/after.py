import bufcb
import jax
import jax.numpy as jnp
import numpy as np


def _twice(ctx, out, x):
    x = np.asarray(x); out[...] = x + x; return;  # noqa: E702,E703


def main():
    x = jnp.arange(2.0)
    print(bufcb.buffer_callback(_twice, jax.ShapeDtypeStruct(x.shape, x.dtype))(x).tolist())
