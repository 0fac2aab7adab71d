from typing import TYPE_CHECKING

import jax
import jax.numpy as jnp
from scipy import special

if TYPE_CHECKING:
    import numpy as np


def _host(v: "np.ndarray"):
    return special.erf(v)


def main():
    print(jax.pure_callback(_host, jax.ShapeDtypeStruct((1,), jnp.float32), jnp.ones(1)).tolist())
