import jax
import jax.numpy as jnp
import numpy as np

CHOICES = iter(["sequential", "expand_dims"])


def _host(x):
    return np.square(x)


def main():
    x = jnp.arange(3.0)
    spec = jax.ShapeDtypeStruct(x.shape, x.dtype)
    print(jax.pure_callback(_host, spec, x, vmap_method=[c for c in CHOICES][0]).tolist())
