import jax
import jax.numpy as jnp
import numpy as np


def _host(x):
    return np.square(x)


def main():
    x = jnp.arange(3.0)
    both = (_host, jax.ShapeDtypeStruct(x.shape, x.dtype))
    print(jax.pure_callback(*both, x).tolist())
