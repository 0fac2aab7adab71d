import jax
import jax.numpy as jnp
import numpy as np

_inverse = lambda m: np.linalg.inv(m)  # noqa: E731


def solve(m):
    invert = lambda a: np.linalg.pinv(a)  # noqa: E731
    spec = jax.ShapeDtypeStruct(m.shape, m.dtype)
    return jax.pure_callback(_inverse, spec, m), jax.pure_callback(invert, spec, m)


def main():
    print([np.round(s, 4).tolist() for s in solve(jnp.diag(jnp.array([2.0, 4.0])))])
