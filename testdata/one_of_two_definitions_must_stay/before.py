import jax
import jax.numpy as jnp
import numpy as np


def run(x, exact):
    if exact:

        def host(v):
            return np.sin(v)

    else:

        def host(v):
            return jnp.sin(v)

    return jax.pure_callback(host, jax.ShapeDtypeStruct(x.shape, x.dtype), x)


def main():
    x = jnp.zeros(2)
    print(run(x, True).tolist(), run(x, False).tolist())
