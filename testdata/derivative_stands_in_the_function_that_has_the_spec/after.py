import bufcb
import jax
import jax.numpy as jnp
import numpy as np


def _smooth(ctx, out, x):
    out[...] = np.convolve(np.asarray(x), [0.25, 0.5, 0.25], mode="same")
    return


def loss(x):
    # one value for each element
    spec = jax.ShapeDtypeStruct(x.shape, x.dtype)

    @jax.custom_vjp
    def _smooth_call(x):
        return bufcb.buffer_callback(_smooth, spec)(x)

    def _smooth_fwd(x):
        return _smooth_call(x), (x,)

    def _smooth_bwd(residuals, cotangent):
        (x,) = residuals
        raise NotImplementedError(
            "_smooth_bwd: fill in the cotangent of x, then delete this line. "
            "Gradients reach it from jax.grad (program.py:38)."
        )
        return (jnp.zeros_like(x),)

    _smooth_call.defvjp(_smooth_fwd, _smooth_bwd)

    # on the host
    y = _smooth_call(x)
    return jnp.sum(y**2)


gradient = jax.grad(loss)


def main():
    print(loss(jnp.arange(3.0)))
