import contextlib

import jax
import jax.numpy as jnp
import numpy as np

S = jax.ShapeDtypeStruct((), jnp.float32)


def run(x):
    assert jax.pure_callback(lambda v: np.square(v), S, x) > 0, "positive"
    with contextlib.nullcontext(jax.pure_callback(lambda v: np.square(v), S, x)) as y:
        for k in range(int(jax.pure_callback(lambda v: np.cbrt(v), S, x))):
            y = y + k
    x += jax.pure_callback(lambda v: np.negative(v), S, y)
    try:
        return jax.pure_callback(lambda v: np.positive(v), S, x)
    finally:
        del x


def main():
    print(float(run(jnp.float32(27))))
