import bufcb
import jax
import jax.numpy as jnp
import numpy as np


def loss(x):
    def _sort(ctx, out, a):
        a = np.asarray(a)
        out[...] = np.sort(a)
        return

    @jax.custom_vjp
    def _sort_call(x):
        x = jnp.asarray(x)
        return bufcb.buffer_callback(_sort, jax.ShapeDtypeStruct(x.shape, x.dtype))(x)

    def _sort_fwd(x):
        return _sort_call(x), (x,)

    def _sort_bwd(residuals, cotangent):
        (x,) = residuals
        raise NotImplementedError(
            "_sort_bwd: fill in the cotangent of x, then delete this line. "
            "Gradients reach it from jax.grad (program.py:35)."
        )
        return (jnp.zeros_like(x),)

    _sort_call.defvjp(_sort_fwd, _sort_bwd)

    y = _sort_call(x)
    return jnp.sum(y * jnp.arange(3.0))


gradient = jax.grad(loss)


def main():
    print(loss(jnp.array([2.0, 0.5, 1.0])))
