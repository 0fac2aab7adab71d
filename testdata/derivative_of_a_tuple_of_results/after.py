import bufcb
import jax
import jax.numpy as jnp
import numpy as np


def _solve(ctx, out, a, b):
    a = np.asarray(a)
    sign, logdet = np.linalg.slogdet(a)
    bufcb.store(out, (np.linalg.solve(a, np.asarray(b)), sign * logdet))
    return


def loss(a, b):
    spec = (jax.ShapeDtypeStruct(b.shape, b.dtype), jax.ShapeDtypeStruct((), a.dtype))

    @jax.custom_jvp
    def _solve_call(a, b):
        return bufcb.buffer_callback(_solve, spec)(a, b)

    @_solve_call.defjvp
    def _solve_jvp(primals, tangents):
        def in_jax(a, b):
            sign, logdet = jnp.linalg.slogdet(a)
            return jnp.linalg.solve(a, b), sign * logdet

        _, tangent = jax.jvp(in_jax, primals, tangents)
        return _solve_call(*primals), tangent

    x, logdet = _solve_call(a, b)
    return x @ x + logdet


def main():
    for gradient in jax.jacfwd(loss, argnums=(0, 1))(2 * jnp.eye(2), jnp.ones(2)):
        print(np.round(gradient, 4))
