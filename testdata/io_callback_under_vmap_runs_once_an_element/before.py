import jax
import jax.numpy as jnp
import numpy as np
from jax.experimental import io_callback

_shapes = []


def _norm(x, scale):
    _shapes.append((x.shape, scale.shape))
    return np.linalg.norm(x) * np.asarray(scale)


def norm(x, scale):
    return io_callback(_norm, jax.ShapeDtypeStruct((), jnp.float32), x, scale)


def main():
    print(jax.vmap(norm, in_axes=(0, None))(jnp.eye(3), jnp.float32(2)).tolist())
    print(jax.vmap(lambda x: x * norm(jnp.ones(4), jnp.float32(1)))(jnp.ones(2)).tolist())
    print(_shapes)
