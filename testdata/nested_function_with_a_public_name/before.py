import jax
import jax.numpy as jnp
import numpy as np


def order(scores, width):
    def rank(values):
        positions = np.argsort(np.asarray(values), kind="stable")
        return positions[:width].astype(np.int32)

    spec = jax.ShapeDtypeStruct((width,), jnp.int32)
    return jax.pure_callback(rank, spec, scores)


def main():
    print(order(jnp.array([0.3, 0.1, 0.2, 0.9]), 3).tolist())
