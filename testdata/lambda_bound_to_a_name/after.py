import bufcb
import jax
import jax.numpy as jnp
import numpy as np


def _inverse(ctx, out, m):  # noqa: E731
    m = np.asarray(m)
    out[...] = np.linalg.inv(m)
    return


def solve(m):
    def invert(ctx, out, a):  # noqa: E731
        a = np.asarray(a)
        out[...] = np.linalg.pinv(a)
        return

    spec = jax.ShapeDtypeStruct(m.shape, m.dtype)
    return bufcb.buffer_callback(_inverse, spec)(m), bufcb.buffer_callback(invert, spec)(m)


def main():
    print([np.round(s, 4).tolist() for s in solve(jnp.diag(jnp.array([2.0, 4.0])))])
