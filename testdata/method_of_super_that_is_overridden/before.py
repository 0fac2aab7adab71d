import jax
import jax.numpy as jnp
import numpy as np


class Sine:
    def _host(self, x):
        return np.sin(x)


class Cosine(Sine):
    def _host(self, x):
        return np.cos(x)

    def __call__(self, x):
        spec = jax.ShapeDtypeStruct(x.shape, x.dtype)
        return jax.pure_callback(super()._host, spec, x) + jax.pure_callback(self._host, spec, x)


def main():
    print(Cosine()(jnp.zeros(2)).tolist())
