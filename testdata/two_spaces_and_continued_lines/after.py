import bufcb
import jax
import jax.numpy as jnp
import numpy as np


class Filter:
  taps = np.array([0.5, 0.5], np.float32)

  def _host(self, ctx, out, x):
    x = np.asarray(x)
    total = \
      np.convolve(x, self.taps,
                  mode="same")
    out[...] = total
    return

  def __call__(self, x):
    spec = \
      jax.ShapeDtypeStruct(x.shape, x.dtype)

    def _flip(ctx, out, v):
      v = bufcb.to_numpy(v)
      out[...] = np.flip(v)
      return

    return bufcb.buffer_callback(_flip, spec)(x), \
      bufcb.buffer_callback(self._host, spec)(x)


def main():
  print([r.tolist() for r in Filter()(jnp.arange(4.0))])
