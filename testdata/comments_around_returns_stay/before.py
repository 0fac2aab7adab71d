import jax
import jax.numpy as jnp
import numpy as np


def _sign(x):  # of every element
    # first, convert
    x = np.asarray(x)  # converted

    # nothing to do
    if x.size == 0:
        return x  # as it is

    # the main case

    return np.sign(x)
    # never reached


def main():
    x = jnp.array([-2.0, 3.0])
    print(jax.pure_callback(_sign, jax.ShapeDtypeStruct(x.shape, x.dtype), x).tolist())
