import jax
import jax.numpy as jnp
import numpy as np


class Filter:
    def __init__(self, taps):
        self.taps = np.asarray(taps, np.float32)

    def _padded(self, x):
        return np.pad(x, 1)

    def _host(self, x):
        return np.convolve(self._padded(x), self.taps, mode="same")[1:-1]

    def __call__(self, x):
        return jax.pure_callback(self._host, jax.ShapeDtypeStruct(x.shape, x.dtype), x)


def main():
    print(Filter([0.5, 0.5])(jnp.array([1.0, 2.0, 4.0])).tolist())
