import jax
import jax.numpy as jnp
import numpy as np


def main():
    spec = jax.ShapeDtypeStruct((2,), jnp.float32)
    x = jnp.ones(2); y = jax.pure_callback(lambda v: np.negative(v), spec, x)  # noqa: E702
    print(y.tolist())
