import bufcb
import jax
import jax.numpy as jnp
import numpy as np


def main():
    square = lambda v: np.square(v)  # noqa: E731
    spec = jax.ShapeDtypeStruct((2,), jnp.float32)
    print(bufcb.buffer_callback(
        bufcb.adapt(square, arrays="jax"), spec
    )(jnp.arange(2.0)).tolist(), square(np.float32(3)).tolist())
