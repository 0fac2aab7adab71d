import bufcb
import jax
import jax.numpy as jnp
import numpy as np

shapes = set()


def _smooth(ctx, out, x):
    out[...] = np.convolve(np.asarray(x), [0.25, 0.5, 0.25], mode="same")
    return


def spec_of(x):
    shapes.add(x.shape)
    return jax.ShapeDtypeStruct(x.shape, x.dtype)


def loss(x):
    return jnp.sum(bufcb.buffer_callback(_smooth, spec_of(x))(x) ** 2)


gradient = jax.grad(loss)


def main():
    print(loss(jnp.arange(3.0)), shapes)
