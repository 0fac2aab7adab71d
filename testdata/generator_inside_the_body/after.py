import bufcb
import jax
import jax.numpy as jnp
import numpy as np


def _weighted(ctx, out, x):
    x = np.array(x)

    def parts():
        for value in x:
            yield value * np.float32(2)

    out[...] = np.stack(list(parts()))
    return


def main():
    x = jnp.arange(2.0)
    print(bufcb.buffer_callback(_weighted, jax.ShapeDtypeStruct(x.shape, x.dtype))(x).tolist())
