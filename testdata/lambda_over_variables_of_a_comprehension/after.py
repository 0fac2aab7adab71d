import bufcb
import jax
import jax.numpy as jnp
import numpy as np


def shifted(x):
    spec = jax.ShapeDtypeStruct(x.shape, x.dtype)
    return [bufcb.buffer_callback(bufcb.adapt(lambda v: np.roll(v, k), arrays="jax"), spec)(x) for k in range(3)]


def main():
    print([s.tolist() for s in shifted(jnp.arange(3.0))])
