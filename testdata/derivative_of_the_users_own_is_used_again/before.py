import jax
import jax.numpy as jnp
import numpy as np


def _smooth(x):
    return np.convolve(np.asarray(x), [0.25, 0.5, 0.25], mode="same")


@jax.custom_vjp
def smooth(x):
    """A moving average."""
    return jax.pure_callback(_smooth, jax.ShapeDtypeStruct(x.shape, x.dtype), x)


def _forward(x):
    return smooth(x), None


def _backward(_, cotangent):
    return (smooth(cotangent),)


smooth.defvjp(_forward, _backward)


def loss(y):
    again = jax.pure_callback(_smooth, jax.ShapeDtypeStruct(y.shape, y.dtype), y)
    return jnp.sum(again * smooth(y))


def main():
    print(jax.grad(loss)(jnp.arange(3.0)))
