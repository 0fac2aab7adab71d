import bufcb
import jax
import jax.numpy as jnp
import numpy as np


def _share(values):
    return values / values.sum()


def _host(x):
    return np.asarray(_share(x))


def main():
    x = jnp.array([1.0, 3.0])
    print(bufcb.buffer_callback(bufcb.adapt(_host, arrays="jax"), jax.ShapeDtypeStruct((2,), jnp.float32))(x).tolist())
