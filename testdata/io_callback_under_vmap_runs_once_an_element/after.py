import bufcb
import jax
import jax.numpy as jnp
import numpy as np

_shapes = []


def _norm(ctx, out, x, scale):
    x = np.asarray(x)
    _shapes.append((x.shape, scale.shape))
    out[...] = np.linalg.norm(x) * np.asarray(scale)
    return


def norm(x, scale):
    return bufcb.buffer_callback(
        _norm, jax.ShapeDtypeStruct((), jnp.float32), has_side_effect=True, vmap_method="sequential"
    )(x, scale)


def main():
    print(jax.vmap(norm, in_axes=(0, None))(jnp.eye(3), jnp.float32(2)).tolist())
    print(jax.vmap(lambda x: x * norm(jnp.ones(4), jnp.float32(1)))(jnp.ones(2)).tolist())
    print(_shapes)
