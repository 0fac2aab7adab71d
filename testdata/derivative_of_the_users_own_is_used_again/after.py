import bufcb
import jax
import jax.numpy as jnp
import numpy as np


def _smooth(ctx, out, x):
    out[...] = np.convolve(np.asarray(x), [0.25, 0.5, 0.25], mode="same")
    return


@jax.custom_vjp
def smooth(x):
    """A moving average."""
    return bufcb.buffer_callback(_smooth, jax.ShapeDtypeStruct(x.shape, x.dtype))(x)


def _forward(x):
    return smooth(x), None


def _backward(_, cotangent):
    return (smooth(cotangent),)


smooth.defvjp(_forward, _backward)


def loss(y):
    again = smooth(y)
    return jnp.sum(again * smooth(y))


def main():
    print(jax.grad(loss)(jnp.arange(3.0)))
