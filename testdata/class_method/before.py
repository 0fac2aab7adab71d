import jax
import jax.numpy as jnp
import numpy as np


class Grid:
    step = 0.25

    @classmethod
    def _snap(cls, x):
        return np.rint(np.asarray(x) / np.float32(cls.step)) * np.float32(cls.step)

    def snap(self, x):
        return jax.pure_callback(self._snap, jax.ShapeDtypeStruct(x.shape, x.dtype), x)


def main():
    print(Grid().snap(jnp.array([0.3, 0.9])).tolist())
