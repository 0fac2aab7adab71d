import jax
import jax.numpy as jnp
import numpy as np


class Filter:
  taps = np.array([0.5, 0.5], np.float32)

  def _host(self, x):
    total = \
      np.convolve(x, self.taps,
                  mode="same")
    return \
      total

  def __call__(self, x):
    spec = \
      jax.ShapeDtypeStruct(x.shape, x.dtype)
    return jax.pure_callback(lambda v: np.flip(v), spec, x), \
      jax.pure_callback(self._host, spec, x)


def main():
  print([r.tolist() for r in Filter()(jnp.arange(4.0))])
