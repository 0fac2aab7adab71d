import jax
import jax.numpy as jnp
import numpy as np


def _host(x):
    return np.square(x)


def main():
    x = jnp.arange(3.0)
    spec = jax.ShapeDtypeStruct(x.shape, x.dtype)
    print(getattr(jax, "pure_callback")(_host, spec, x).tolist())
    call = getattr(jax, "pure_callback", None)
    print(call(np.negative, spec, x).tolist())
