import jax
import jax.numpy as jnp
import numpy as np


def _both(x):
    return np.sin(x), np.cos(x)  # one leaf each


def both(x):
    spec = jax.ShapeDtypeStruct(x.shape, x.dtype)
    return jax.pure_callback(_both, (spec, spec), x)


def main():
    sine, cosine = both(jnp.linspace(0.0, 1.0, 3))
    print(np.round(sine, 5).tolist(), np.round(cosine, 5).tolist())
