import jax
import jax.numpy as jnp
import numpy as np


def _root(v):
    v = np.asarray(v)
    if v.min() < 0: return np.full_like(v, np.nan)  # noqa: E701
    return np.sqrt(v)


def main():
    for values in ([4.0, 9.0], [4.0, -9.0]):
        v = jnp.array(values)
        print(jax.pure_callback(_root, jax.ShapeDtypeStruct(v.shape, v.dtype), v).tolist())
