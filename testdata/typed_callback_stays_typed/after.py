import bufcb
import jax
import jax.numpy as jnp
import numpy as np


class Mixer:
    def __init__(self, weight: float) -> None:
        self.weight = weight

    def _mix(
        self,
        ctx: bufcb.ExecutionContext,
        out: tuple[bufcb.Buffer, ...],
        a: np.ndarray,
        b: np.ndarray,
    ) -> None:
        a, b = np.asarray(a), np.asarray(b)
        bufcb.store(out, (a + np.float32(self.weight) * b, a - b))
        return

    def _norm(self, ctx: bufcb.ExecutionContext, out: bufcb.Buffer, a: "np.ndarray") -> None:
        a = np.asarray(a)
        out[...] = np.linalg.norm(a)
        return

    def __call__(self, a: jax.Array, b: jax.Array) -> tuple[jax.Array, jax.Array]:
        spec = jax.ShapeDtypeStruct(a.shape, a.dtype)
        mixed, rest = bufcb.buffer_callback(self._mix, (spec, spec))(a, b)
        return mixed, bufcb.buffer_callback(self._norm, jax.ShapeDtypeStruct((), a.dtype))(rest)


def main() -> None:
    x = jnp.arange(3.0)
    print([y.tolist() for y in Mixer(0.5)(x, x)])
