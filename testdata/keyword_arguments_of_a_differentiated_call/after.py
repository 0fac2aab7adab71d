import bufcb
import jax
import jax.numpy as jnp
import numpy as np


def _blend(ctx, out, x, *, weight, other):
    x, weight, other = np.asarray(x), np.asarray(weight), np.asarray(other)
    out[...] = np.rint(x) * weight + other * (1 - weight)
    return


@jax.custom_vjp
def _blend_call(x, weight, other):
    x = jnp.asarray(x)
    return bufcb.buffer_callback(
        _blend, jax.ShapeDtypeStruct(x.shape, x.dtype)
    )(x, weight=weight, other=other)


def _blend_fwd(x, weight, other):
    return _blend_call(x, weight, other), (x, weight, other)


def _blend_bwd(residuals, cotangent):
    x, weight, other = residuals
    raise NotImplementedError(
        "_blend_bwd: fill in the cotangents of x and other, then delete this line. "
        "Gradients reach it from jax.grad (program.py:41)."
    )
    return jnp.zeros_like(x), None, jax.tree.map(jnp.zeros_like, other)


_blend_call.defvjp(_blend_fwd, _blend_bwd)


def blend(x, y):
    return _blend_call(x, jnp.float32(0.25), y * 2)


gradient = jax.grad(lambda x, y: jnp.sum(blend(x, y)), argnums=(0, 1))


def main():
    print(blend(jnp.ones(2), jnp.arange(2.0)))
