import jax
import jax.numpy as jnp
import numpy as np

X = jnp.arange(2.0)
SPEC = jax.ShapeDtypeStruct(X.shape, X.dtype)


def main():
    print(RESULT.tolist(), square(np.float32(3)))


def square(x):
    return np.square(x)


RESULT = jax.pure_callback(square, SPEC, X) if X.size else jax.pure_callback(np.negative, SPEC, X)