import jax
import jax.numpy as jnp
import numpy as np


class Scale:
    def __init__(self, factor):
        self.factor = factor

    def _apply(self, x):
        return np.multiply(x, np.float32(self.factor))


_DOUBLE = Scale(2)


def double(x):
    return jax.pure_callback(_DOUBLE._apply, jax.ShapeDtypeStruct(x.shape, x.dtype), x)


def main():
    print(double(jnp.arange(3.0)).tolist())
