import jax
import jax.numpy as jnp
import numpy as np


class Größe:
	def _wert(self, größe):
		"""Größe."""
		return np.square(größe)  # ∑

	def lauf(self, x):
		return (jax.pure_callback(self._wert, jax.ShapeDtypeStruct(x.shape, x.dtype), größe=x), "∑")


def main():
	print(Größe().lauf(jnp.arange(3.0))[0].tolist())
