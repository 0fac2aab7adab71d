import bufcb
import jax
import jax.numpy as jnp
import numpy as np


class Adder:
    def __init__(self, amount):
        self.amount = np.float32(amount)

    def __call__(self, x):
        return np.asarray(x) + self.amount


ADDER = Adder(2)


def main():
    x = jnp.arange(2.0)
    spec = jax.ShapeDtypeStruct(x.shape, x.dtype)
    print(bufcb.buffer_callback(
        bufcb.adapt(ADDER, arrays="jax"), spec
    )(x).tolist(), bufcb.buffer_callback(
        bufcb.adapt(Adder(1), arrays="jax"), spec
    )(x).tolist())
