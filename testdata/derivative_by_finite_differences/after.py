import bufcb
import jax
import jax.numpy as jnp
import numpy as np


def _smooth(ctx, out, x):
    out[...] = np.convolve(np.asarray(x), [0.25, 0.5, 0.25], mode="same")
    return


@jax.custom_vjp
def _smooth_call(x):
    x = jnp.asarray(x)
    return bufcb.buffer_callback(_smooth, jax.ShapeDtypeStruct(x.shape, x.dtype))(x)


def _smooth_fwd(x):
    return _smooth_call(x), (x,)


def _smooth_bwd(residuals, cotangent):
    return bufcb.finite_difference_vjp(_smooth_call, residuals, cotangent)


_smooth_call.defvjp(_smooth_fwd, _smooth_bwd)


def loss(x):
    return jnp.sum(_smooth_call(x) ** 2)


def main():
    print(np.round(jax.grad(loss)(jnp.arange(3.0)), 2))
