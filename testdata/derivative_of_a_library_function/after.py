import bufcb
import jax
import jax.numpy as jnp
import numpy as np


@jax.custom_vjp
def _inv_call(a):
    a = jnp.asarray(a)
    return bufcb.buffer_callback(
        bufcb.adapt(np.linalg.inv), jax.ShapeDtypeStruct(a.shape, a.dtype)
    )(a)


def _inv_fwd(a):
    return _inv_call(a), (a,)


def _inv_bwd(residuals, cotangent):
    (a,) = residuals
    _, pullback = jax.vjp(jnp.linalg.inv, a)
    return pullback(cotangent)


_inv_call.defvjp(_inv_fwd, _inv_bwd)


def loss(a):
    return jnp.sum(_inv_call(a))


gradient = jax.grad(loss)


def main():
    print(loss(2 * jnp.eye(2)))
