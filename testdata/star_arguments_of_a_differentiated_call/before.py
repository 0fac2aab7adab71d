import jax
import jax.numpy as jnp
import numpy as np


def _total(*terms):
    return np.sum([np.asarray(term) for term in terms], axis=0)


def total(*terms):
    return jax.pure_callback(_total, jax.ShapeDtypeStruct(terms[0].shape, terms[0].dtype), *terms)


gradient = jax.grad(lambda x: jnp.sum(total(x, 2 * x)))


def main():
    print(total(jnp.ones(2), jnp.arange(2.0)))
