import jax
import jax.numpy as jnp
import numpy as np


def _rank(row):
    return np.partition(np.asarray(row), 1)


def loss(rows):
    ranked = jax.vmap(
        lambda row: jax.pure_callback(
            _rank, jax.ShapeDtypeStruct(row.shape, row.dtype), row, vmap_method="sequential"
        )
    )(rows)
    return jnp.sum(ranked[:, 0])


gradient = jax.grad(loss)


def main():
    print(loss(jnp.array([[3.0, 1.0], [2.0, 4.0]])))
