import jax
import jax.numpy as jnp
import numpy as np
import scipy.special


def _bessel(z):
    return scipy.special.j0(z)


def _smooth(x):
    return np.convolve(np.asarray(x), [0.25, 0.5, 0.25], mode="same")


def loss(z):
    y = jax.pure_callback(_bessel, jax.ShapeDtypeStruct(z.shape, z.dtype), z)
    return jnp.sum(jax.pure_callback(_smooth, jax.ShapeDtypeStruct(y.shape, y.dtype), y) ** 2)


gradient = jax.grad(loss)


def main():
    print(loss(jnp.array([1.0, 2.0, 3.0])))
