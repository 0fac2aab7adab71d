import bufcb
import jax
import jax.numpy as jnp
import numpy as np


def _smooth(ctx, out, x):
    out[...] = np.convolve(np.asarray(x), [0.25, 0.5, 0.25], mode="same")
    return


@jax.custom_jvp
def _smooth_call(x):
    x = jnp.asarray(x)
    return bufcb.buffer_callback(_smooth, jax.ShapeDtypeStruct(x.shape, x.dtype))(x)


@_smooth_call.defjvp
def _smooth_jvp(primals, tangents):
    (x,) = primals
    (x_tangent,) = tangents
    result = _smooth_call(*primals)
    raise NotImplementedError(
        "_smooth_jvp: fill in the tangent of the result, then delete this line. "
        "Gradients reach it from jax.jvp (program.py:35)."
    )
    return result, jnp.zeros_like(result)


def smooth(x):
    return _smooth_call(x)


def directional(x, v):
    return jax.jvp(smooth, (x,), (v,))


def main():
    print(smooth(jnp.arange(3.0)))
