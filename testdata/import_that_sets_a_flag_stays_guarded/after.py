import bufcb
import jax
import jax.numpy as jnp
import numpy as np

try:
    HAS_CALLBACKS = True
except ImportError:
    HAS_CALLBACKS = False


def _sine(ctx, out, x):
    x = np.asarray(x)
    out[...] = np.sin(x)
    return


def main():
    x = jnp.zeros(2)
    if HAS_CALLBACKS:
        print(bufcb.buffer_callback(_sine, jax.ShapeDtypeStruct(x.shape, x.dtype))(x).tolist())
