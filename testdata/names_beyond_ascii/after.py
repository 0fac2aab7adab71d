import bufcb
import jax
import jax.numpy as jnp
import numpy as np


class Größe:
	def _wert(self, ctx, out, größe):
		"""Größe."""
		größe = np.asarray(größe)
		out[...] = np.square(größe)
		return  # ∑

	def lauf(self, x):
		return (bufcb.buffer_callback(self._wert, jax.ShapeDtypeStruct(x.shape, x.dtype))(größe=x), "∑")


def main():
	print(Größe().lauf(jnp.arange(3.0))[0].tolist())
