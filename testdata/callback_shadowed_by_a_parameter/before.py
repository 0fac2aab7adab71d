import jax
import jax.numpy as jnp
import numpy as np


def _host(x):
    return np.sin(x)


def run(_host, x):
    return jax.pure_callback(_host, jax.ShapeDtypeStruct(x.shape, x.dtype), x)


def main():
    x = jnp.zeros(2)
    print(run(np.cos, x).tolist(), run(_host, x).tolist())
