import jax
import jax.numpy as jnp
import numpy as np

X = jnp.array([2.0, 8.0])

LOGS = jax.pure_callback(lambda x: np.log2(x), jax.ShapeDtypeStruct((2,), jnp.float32), X)


def main():
    print(LOGS.tolist())
