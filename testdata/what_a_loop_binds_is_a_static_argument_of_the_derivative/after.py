import functools

import bufcb
import jax
import jax.numpy as jnp
import numpy as np


def _power(n, ctx, out, x):
    out[...] = np.asarray(x) ** n
    return


@functools.partial(jax.custom_vjp, nondiff_argnums=(0, 1))
def _power_call(n, spec, x):
    return bufcb.buffer_callback(functools.partial(_power, n), spec)(x)


def _power_fwd(n, spec, x):
    return _power_call(n, spec, x), (x,)


def _power_bwd(n, spec, residuals, cotangent):
    (x,) = residuals
    raise NotImplementedError(
        "_power_bwd: fill in the cotangent of x, then delete this line. "
        "Gradients reach it from jax.grad (program.py:42)."
    )
    return (jnp.zeros_like(x),)


_power_call.defvjp(_power_fwd, _power_bwd)


def loss(x):
    for n in (2, 3):
        spec = jax.ShapeDtypeStruct(x.shape, x.dtype)
        x = _power_call(n, spec, x)
    return jnp.sum(x)


gradient = jax.grad(jax.jit(loss))


def main():
    print(loss(jnp.arange(3.0)))
