import bufcb
import jax
import jax.numpy as jnp
import numpy as np


def smooth(x):
    return np.convolve(np.asarray(x), [0.25, 0.5, 0.25], mode="same")


def _smooth_into(ctx, out, x):
    out[...] = smooth(np.asarray(x))
    return


@jax.custom_vjp
def _smooth_call(x):
    x = jnp.asarray(x)
    return bufcb.buffer_callback(_smooth_into, jax.ShapeDtypeStruct(x.shape, x.dtype))(x)


def _smooth_fwd(x):
    return _smooth_call(x), (x,)


def _smooth_bwd(residuals, cotangent):
    (x,) = residuals
    raise NotImplementedError(
        "_smooth_bwd: fill in the cotangent of x, then delete this line. "
        "Gradients reach it from jax.grad (program.py:42)."
    )
    return (jnp.zeros_like(x),)


_smooth_call.defvjp(_smooth_fwd, _smooth_bwd)


def loss(x):
    return jnp.sum(_smooth_call(x) ** 2)


gradient = jax.grad(loss)


def main():
    print(loss(jnp.arange(3.0)), smooth(np.ones(3)))
