import jax
import jax.numpy as jnp
import numpy as np

try:
    from jax import pure_callback
except ImportError:
    from jax.experimental import pure_callback


def _sine(x):
    return np.sin(x)


def main():
    x = jnp.zeros(2)
    print(pure_callback(_sine, jax.ShapeDtypeStruct(x.shape, x.dtype), x).tolist())
