import jax
import jax.numpy as jnp
import numpy as np

flip = lambda v: np.flip(v)  # noqa: E731


def main():
    print(jax.pure_callback(flip, jax.ShapeDtypeStruct((2,), jnp.float32), jnp.arange(2.0)).tolist())
