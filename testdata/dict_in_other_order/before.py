import jax
import jax.numpy as jnp
import numpy as np


def _sides(x):
    return {
        "right": np.positive(x),  # as it is
        # mirrored
        "left": np.negative(x),
    }


def main():
    x = jnp.array([1.0, 2.0])
    spec = jax.ShapeDtypeStruct(x.shape, x.dtype)
    found = jax.pure_callback(_sides, {"left": spec, "right": spec}, x)
    print(found["left"].tolist(), found["right"].tolist())
