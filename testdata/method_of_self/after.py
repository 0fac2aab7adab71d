import bufcb
import jax
import jax.numpy as jnp
import numpy as np


class Interpolator:
    def __init__(self, knots, values):
        self.knots, self.values = np.asarray(knots, np.float32), np.asarray(values, np.float32)

    def _host(self, ctx, out, x):
        x = np.asarray(x)
        out[...] = np.interp(x, self.knots, self.values).astype(np.float32)
        return

    def __call__(self, x):
        spec = jax.ShapeDtypeStruct(x.shape, x.dtype)
        return bufcb.buffer_callback(self._host, spec)(x=x)


def main():
    print(Interpolator([0, 1, 2], [0, 10, 40])(jnp.array([0.5, 1.5])).tolist())
