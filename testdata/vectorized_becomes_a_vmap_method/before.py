import jax
import jax.numpy as jnp
import numpy as np


def _host(x):
    return np.sin(x)


def run(x, flag):
    spec = jax.ShapeDtypeStruct(x.shape, x.dtype)
    a = jax.pure_callback(_host, spec, x, vectorized=True)
    b = jax.pure_callback(_host, spec, x, vectorized=False)
    c = jax.pure_callback(_host, spec, x, vectorized=flag)
    return a, b, c


def main():
    x = jnp.zeros(2)
    print([r.tolist() for r in jax.vmap(lambda v: run(v, True))(x)])
