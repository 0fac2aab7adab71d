import bufcb
import jax
import jax.numpy as jnp
import numpy as np


def _blend(
    ctx: bufcb.ExecutionContext,
    out: bufcb.Buffer,
    a: np.ndarray,
    b: np.ndarray,
    c: np.ndarray,
    *,
    t: np.ndarray,
) -> None:
    a, b, c, t = np.asarray(a), np.asarray(b), np.asarray(c), np.asarray(t)
    out[...] = np.add(np.add(a, b), np.add(c, t))
    return


def main():
    x = jnp.arange(3.0)
    print(bufcb.buffer_callback(_blend, jax.ShapeDtypeStruct(x.shape, x.dtype))(x, x, x, t=x).tolist())
