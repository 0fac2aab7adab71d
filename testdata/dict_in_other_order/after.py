import bufcb
import jax
import jax.numpy as jnp
import numpy as np


def _sides(ctx, out, x):
    x = np.asarray(x)
    # as it is
    out["right"][...] = np.positive(x)
    # mirrored
    out["left"][...] = np.negative(x)
    return


def main():
    x = jnp.array([1.0, 2.0])
    spec = jax.ShapeDtypeStruct(x.shape, x.dtype)
    found = bufcb.buffer_callback(_sides, {"left": spec, "right": spec})(x)
    print(found["left"].tolist(), found["right"].tolist())
