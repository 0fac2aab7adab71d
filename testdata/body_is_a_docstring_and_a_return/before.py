import jax
import jax.numpy as jnp
import numpy as np


def _arctan(x):
    '''Arcus tangens on the host.

    Returns:
      An array of the shape of `x`.
    '''
    return np.arctan(x)


def main():
    x = jnp.linspace(-1.0, 1.0, 3)
    print(np.round(jax.pure_callback(_arctan, jax.ShapeDtypeStruct(x.shape, x.dtype), x), 5).tolist())
