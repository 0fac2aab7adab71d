import jax
import jax.numpy as jnp
import numpy as np


def _host(x):  # bufcb: skip
    return np.square(x)


def main():
    x = jnp.arange(3.0)
    print(jax.pure_callback(_host, jax.ShapeDtypeStruct(x.shape, x.dtype), x).tolist())
