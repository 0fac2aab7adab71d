import bufcb
import jax
import jax.numpy as jnp
import numpy as np


def _smooth(ctx, out, x):
    out[...] = np.convolve(np.asarray(x), [0.25, 0.5, 0.25], mode="same")
    return


def loss(x):
    spec = jax.ShapeDtypeStruct(x.shape, x.dtype)
    return jnp.sum(bufcb.buffer_callback(_smooth, spec)(x) ** 2)  # bufcb: skip[BC303]


gradient = jax.grad(loss)


def main():
    print(loss(jnp.arange(3.0)))
