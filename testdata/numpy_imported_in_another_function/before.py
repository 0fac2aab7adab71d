import jax
import jax.numpy as jnp
from scipy import special


def _host(v):
    return special.erf(v)


def main():
    import numpy as np

    print(jax.pure_callback(_host, jax.ShapeDtypeStruct((1,), jnp.float32), np.ones(1, np.float32)).tolist())
