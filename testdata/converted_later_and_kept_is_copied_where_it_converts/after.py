import bufcb
import jax
import jax.numpy as jnp
import numpy as np

LATEST = {}


def _keep(ctx, out, x, verbose=False):
    if x.ndim != 1:
        raise ValueError("one axis, please")
    values = np.array(x)
    LATEST["values"] = values
    out[...] = np.sort(values)
    return


def main():
    x = jnp.arange(3.0)
    print(bufcb.buffer_callback(_keep, jax.ShapeDtypeStruct(x.shape, x.dtype))(x).tolist())
    print(LATEST["values"].tolist())
