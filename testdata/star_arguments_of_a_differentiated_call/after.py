import bufcb
import jax
import jax.numpy as jnp
import numpy as np


def _total(ctx, out, *terms):
    out[...] = np.sum([np.asarray(term) for term in terms], axis=0)
    return


@jax.custom_vjp
def _total_call(*terms):
    terms = jax.tree.map(jnp.asarray, terms)
    return bufcb.buffer_callback(
        _total, jax.ShapeDtypeStruct(terms[0].shape, terms[0].dtype)
    )(*terms)


def _total_fwd(*terms):
    return _total_call(*terms), terms


def _total_bwd(residuals, cotangent):
    terms = residuals
    raise NotImplementedError(
        "_total_bwd: fill in the cotangent of terms, then delete this line. "
        "Gradients reach it from jax.grad (program.py:40)."
    )
    return jax.tree.map(jnp.zeros_like, terms)


_total_call.defvjp(_total_fwd, _total_bwd)


def total(*terms):
    return _total_call(*terms)


gradient = jax.grad(lambda x: jnp.sum(total(x, 2 * x)))


def main():
    print(total(jnp.ones(2), jnp.arange(2.0)))
