import bufcb
import jax
import jax.numpy as jnp
import numpy as np


def _draw(key):
    generator = np.random.default_rng(np.asarray(key).tolist())
    return generator.standard_normal(2).astype(np.float32)


def main():
    key = jax.random.key(3)
    print(bufcb.buffer_callback(
        bufcb.adapt(_draw, arrays="jax"), jax.ShapeDtypeStruct((2,), jnp.float32)
    )(key).tolist())
    print(bufcb.buffer_callback(bufcb.adapt(np.sort), jax.ShapeDtypeStruct((2,), jnp.uint32))(key).tolist())
