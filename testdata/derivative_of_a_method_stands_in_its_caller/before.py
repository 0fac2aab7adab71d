import jax
import jax.numpy as jnp
import numpy as np


class Filter:
    def __init__(self, kernel):
        self.kernel = np.asarray(kernel)

    def _host(self, x):
        return np.convolve(np.asarray(x), self.kernel, mode="same").astype(np.float32)

    def __call__(self, x):
        return jax.pure_callback(self._host, jax.ShapeDtypeStruct(x.shape, x.dtype), x)


smooth = Filter([0.25, 0.5, 0.25])
gradient = jax.grad(lambda x: jnp.sum(smooth(x) ** 2))


def main():
    print(smooth(jnp.arange(3.0)))
