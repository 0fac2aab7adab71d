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
        "Gradients reach it from jax.value_and_grad (program.py:38)."
    )
    return (jnp.zeros_like(x),)


_smooth_call.defvjp(_smooth_fwd, _smooth_bwd)


def loss(params, x):
    return jnp.sum(params * _smooth_call(x))


step = jax.value_and_grad(loss, argnums=(0, 1))


def main():
    print(loss(jnp.ones(3), jnp.arange(3.0)))
