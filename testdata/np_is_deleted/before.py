import jax
import jax.numpy as jnp
import numpy as np

from scipy import special


def _host(v):
    return special.erf(v)


X = np.arange(3, dtype=np.float32)
del np


def main():
    print(jax.pure_callback(_host, jax.ShapeDtypeStruct(X.shape, X.dtype), X).tolist())
