import jax
import jax.numpy as jnp
import numpy as np
from jax.tree_util import Partial


def _tilted(tilt, x):
    return np.asarray(x) + np.float32(tilt)


def main():
    x = jnp.arange(2.0)
    print(jax.pure_callback(Partial(_tilted, 2), jax.ShapeDtypeStruct((2,), jnp.float32), x).tolist())
