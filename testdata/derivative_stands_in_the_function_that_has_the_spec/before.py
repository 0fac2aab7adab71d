import jax
import jax.numpy as jnp
import numpy as np


def _smooth(x):
    return np.convolve(np.asarray(x), [0.25, 0.5, 0.25], mode="same")


def loss(x):
    # one value for each element
    spec = jax.ShapeDtypeStruct(x.shape, x.dtype)
    # on the host
    y = jax.pure_callback(_smooth, spec, x)
    return jnp.sum(y**2)


gradient = jax.grad(loss)


def main():
    print(loss(jnp.arange(3.0)))
