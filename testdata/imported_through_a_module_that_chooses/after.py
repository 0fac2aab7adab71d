import jax
import jax.numpy as jnp
import numpy as np
from compat import pure_callback


def main():
    x = jnp.arange(2.0)
    print(pure_callback(np.negative, jax.ShapeDtypeStruct(x.shape, x.dtype), x).tolist())
