import bufcb
import jax
import jax.numpy as jnp
import numpy as np


def _solve(ctx, out, a, b):
    out[...] = np.linalg.solve(np.asarray(a), np.asarray(b))
    return


@jax.custom_vjp
def _solve_call(a, b):
    b = jnp.asarray(b)
    return bufcb.buffer_callback(_solve, jax.ShapeDtypeStruct(b.shape, b.dtype))(a, b)


def _solve_fwd(a, b):
    return _solve_call(a, b), (a, b)


def _solve_bwd(residuals, cotangent):
    a, b = residuals
    _, pullback = jax.vjp(jnp.linalg.solve, a, b)
    return pullback(cotangent)


_solve_call.defvjp(_solve_fwd, _solve_bwd)


def loss(a, b):
    return jnp.sum(_solve_call(a, b))


def main():
    for gradient in jax.grad(loss, argnums=(0, 1))(2 * jnp.eye(2), jnp.ones(2)):
        print(gradient)
