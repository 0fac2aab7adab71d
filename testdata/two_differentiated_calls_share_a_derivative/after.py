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
    (x,) = residuals
    raise NotImplementedError(
        "_smooth_bwd: fill in the cotangent of x, then delete this line. "
        "Gradients reach it from jax.grad (program.py:40)."
    )
    return (jnp.zeros_like(x),)


_smooth_call.defvjp(_smooth_fwd, _smooth_bwd)


def residual(x, y):
    left = _smooth_call(x)
    right = _smooth_call(y)
    return jnp.sum(left) - jnp.sum(right)


gradient = jax.grad(residual, argnums=(0, 1))


def main():
    print(residual(jnp.arange(3.0), jnp.ones(4)))
