import bufcb
import jax
import jax.numpy as jnp
import numpy as np


def _blend(ctx, out, x, y):
    out[...] = np.rint(np.asarray(x)) / 2 + np.asarray(y) / 2
    return


@jax.custom_vjp
def _blend_call(x, y):
    x = jnp.asarray(x)
    return bufcb.buffer_callback(
        _blend,  # on the host
        jax.ShapeDtypeStruct(x.shape, x.dtype),
        vmap_method="sequential",
    )(x, y)


def _blend_fwd(x, y):
    return _blend_call(x, y), (x, y)


def _blend_bwd(residuals, cotangent):
    x, y = residuals
    raise NotImplementedError(
        "_blend_bwd: fill in the cotangents of x and y, then delete this line. "
        "Gradients reach it from jax.grad (program.py:47)."
    )
    return jnp.zeros_like(x), jnp.zeros_like(y)


_blend_call.defvjp(_blend_fwd, _blend_bwd)


def loss(x, y):
    blended = _blend_call(
        x,  # what is seen
        # what is wanted
        jnp.sin(y),
    )  # halfway
    return jnp.sum(blended)


gradient = jax.grad(loss)


def main():
    print(loss(jnp.ones(2), jnp.zeros(2)))
