import jax
import jax.numpy as jnp
import numpy as np


def run(x, exact):
    spec = jax.ShapeDtypeStruct(x.shape, x.dtype)

    def host(v):
        return np.sin(v)

    if not exact:

        def host(v):
            return np.asarray(v)

    return jax.pure_callback(host, spec, x)


def main():
    x = jnp.ones(2)
    print(run(x, True).tolist(), run(x, False).tolist())
