import jax
import jax.numpy as jnp
import numpy as np


class Mixer:
    def __init__(self, weight: float) -> None:
        self.weight = weight

    def _mix(self, a: jax.Array, b: jnp.ndarray) -> tuple[np.ndarray, np.ndarray]:
        a, b = np.asarray(a), np.asarray(b)
        return a + np.float32(self.weight) * b, a - b

    def _norm(self, a: "jax.Array") -> np.ndarray:
        return np.linalg.norm(a)

    def __call__(self, a: jax.Array, b: jax.Array) -> tuple[jax.Array, jax.Array]:
        spec = jax.ShapeDtypeStruct(a.shape, a.dtype)
        mixed, rest = jax.pure_callback(self._mix, (spec, spec), a, b)
        return mixed, jax.pure_callback(self._norm, jax.ShapeDtypeStruct((), a.dtype), rest)


def main() -> None:
    x = jnp.arange(3.0)
    print([y.tolist() for y in Mixer(0.5)(x, x)])
