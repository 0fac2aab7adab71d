import bufcb
import jax
import jax.numpy as jnp
import numpy as np

SEEN = []


def _note(ctx, out, x):
    x = np.array(x)
    SEEN.append(x)
    out[...] = np.square(x)
    return


def main():
    x = jnp.arange(3.0)
    print(bufcb.buffer_callback(_note, jax.ShapeDtypeStruct(x.shape, x.dtype))(x).tolist())
    print([s.tolist() for s in SEEN])
