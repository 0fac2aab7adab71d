import jax
import jax.numpy as jnp
import numpy as np


def _fused(
    a: np.ndarray,  # left
    b: np.ndarray,  # right
    *,
    scale: float = 2.0,
) -> np.ndarray:
    return np.multiply(np.add(a, b), np.float32(scale))


def main():
    x = jnp.arange(3.0)
    print(jax.pure_callback(_fused, jax.ShapeDtypeStruct(x.shape, x.dtype), x, x).tolist())
