import bufcb
import jax
import jax.numpy as jnp
import numpy as np


class Power:
    def __init__(self, exponent):
        def _power(ctx, out, x):
            x = np.asarray(x)
            out[...] = np.power(x, np.float32(exponent))
            return

        self._host = _power

    def __call__(self, x):
        return bufcb.buffer_callback(self._host, jax.ShapeDtypeStruct(x.shape, x.dtype))(x)


def main():
    print(Power(3)(jnp.arange(3.0)).tolist())
