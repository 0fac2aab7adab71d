import typing

import jax
import jax.numpy as jnp
import numpy as np


class Eig(typing.NamedTuple):
    values: typing.Any
    vectors: typing.Any


def _eigh(a):
    values, vectors = np.linalg.eigh(a)
    return Eig(values, np.abs(vectors))


def main():
    spec = Eig(jax.ShapeDtypeStruct((2,), jnp.float32), jax.ShapeDtypeStruct((2, 2), jnp.float32))
    print([np.round(r, 4).tolist() for r in jax.pure_callback(_eigh, spec, jnp.diag(jnp.array([1.0, 2.0])))])
