import bufcb
import jax
import jax.numpy as jnp
import numpy as np


def main():
    spec = jax.ShapeDtypeStruct((2,), jnp.float32)
    x = jnp.ones(2); y = bufcb.buffer_callback(
        bufcb.adapt(lambda v: np.negative(v), arrays="jax"), spec
    )(x)  # noqa: E702
    print(y.tolist())
