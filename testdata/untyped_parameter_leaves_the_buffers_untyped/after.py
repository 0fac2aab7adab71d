import bufcb
import jax
import jax.numpy as jnp
import numpy as np


def _scale(ctx, out, x: np.ndarray, factor=2.0) -> None:
    x = np.asarray(x)
    out[...] = np.multiply(x, np.float32(factor))
    return


def main():
    x = jnp.arange(3.0)
    print(bufcb.buffer_callback(_scale, jax.ShapeDtypeStruct(x.shape, x.dtype))(x).tolist())
