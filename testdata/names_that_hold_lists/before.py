import jax
import jax.numpy as jnp
import numpy as np


def _host(x):
    both = [np.sin(x), np.cos(x)]
    rest = None
    return both, rest


def main():
    x = jnp.zeros(2)
    s = jax.ShapeDtypeStruct(x.shape, x.dtype)
    print([r.tolist() for r in jax.pure_callback(_host, (s, s), x)])
