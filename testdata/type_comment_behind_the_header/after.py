import bufcb
import jax
import jax.numpy as jnp
import numpy as np


def _halved(ctx, out, x):  # type: (...) -> None
    """Halves."""
    x = np.asarray(x)
    out[...] = np.multiply(x, np.float32(0.5))  # type: ignore[no-any-return]
    return


def main():
    x = jnp.arange(3.0)
    print(bufcb.buffer_callback(_halved, jax.ShapeDtypeStruct(x.shape, x.dtype))(x).tolist())
