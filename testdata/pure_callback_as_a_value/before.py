import jax
import jax.numpy as jnp
import numpy as np

BACKENDS = {"host": jax.pure_callback}


def run(x, backend="host", call=jax.pure_callback):
    spec = jax.ShapeDtypeStruct(x.shape, x.dtype)
    first = BACKENDS[backend](np.negative, spec, x)
    return call(np.positive, spec, first, vmap_method="sequential")


def main():
    print(run(jnp.arange(3.0)).tolist())
