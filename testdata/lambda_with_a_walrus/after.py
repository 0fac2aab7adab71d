import bufcb
import jax
import jax.numpy as jnp
import numpy as np


def run(x):
    spec = jax.ShapeDtypeStruct(x.shape, x.dtype)
    return bufcb.buffer_callback(
        bufcb.adapt(lambda v: (w := np.asarray(v)) + w, arrays="jax"), spec
    )(x)


def main():
    print(run(jnp.arange(3.0)).tolist())
