import bufcb
import jax
import jax.numpy as jnp
import numpy as np


def like(x):
    return jax.ShapeDtypeStruct(x.shape, x.dtype)


def _wrap(ctx, out, angle):
    angle = np.asarray(angle)
    out[...] = np.arctan2(np.sin(angle), np.cos(angle))
    return


def main():
    angle = jnp.array([0.5, 1.0])
    print(np.round(bufcb.buffer_callback(_wrap, like(angle))(angle), 5).tolist())
