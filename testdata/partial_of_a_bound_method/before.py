import functools

import jax
import jax.numpy as jnp
import numpy as np


class Scaler:
    offset = np.float32(1)

    def _scale(self, factor, x):
        return np.asarray(x) * np.float32(factor) + self.offset

    def doubled(self, x):
        spec = jax.ShapeDtypeStruct(x.shape, x.dtype)
        return jax.pure_callback(functools.partial(self._scale, 2), spec, x)


def main():
    print(Scaler().doubled(jnp.arange(3.0)).tolist())
