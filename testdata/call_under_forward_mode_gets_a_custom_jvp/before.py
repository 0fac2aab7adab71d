import jax
import jax.numpy as jnp
import numpy as np


def _smooth(x):
    return np.convolve(np.asarray(x), [0.25, 0.5, 0.25], mode="same")


def smooth(x):
    return jax.pure_callback(_smooth, jax.ShapeDtypeStruct(x.shape, x.dtype), x)


def directional(x, v):
    return jax.jvp(smooth, (x,), (v,))


def main():
    print(smooth(jnp.arange(3.0)))
