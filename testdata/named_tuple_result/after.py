import typing

import bufcb
import jax
import jax.numpy as jnp
import numpy as np


class Eig(typing.NamedTuple):
    values: typing.Any
    vectors: typing.Any


def _eigh(ctx, out, a):
    a = np.asarray(a)
    values, vectors = np.linalg.eigh(a)
    bufcb.store(out, Eig(values, np.abs(vectors)))
    return


def main():
    spec = Eig(jax.ShapeDtypeStruct((2,), jnp.float32), jax.ShapeDtypeStruct((2, 2), jnp.float32))
    print([np.round(r, 4).tolist() for r in bufcb.buffer_callback(_eigh, spec)(jnp.diag(jnp.array([1.0, 2.0])))])
