import bufcb
import jax
import jax.numpy as jnp
import numpy as np


class Filter:
    def __init__(self, width):
        self.width = width

    def _smooth(self, ctx, out, x):
        x = np.asarray(x)
        out[...] = np.convolve(x, np.ones(self.width, np.float32), "same")
        return

    def __call__(self, x):
        smooth = self._smooth
        return bufcb.buffer_callback(smooth, jax.ShapeDtypeStruct(x.shape, x.dtype))(x)


def main():
    print(Filter(3)(jnp.arange(4.0)).tolist())
