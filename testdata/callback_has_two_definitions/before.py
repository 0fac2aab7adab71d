import jax
import jax.numpy as jnp
import numpy as np

try:
    import scipy.special

    def _gamma(x):
        return np.asarray(scipy.special.gamma(np.asarray(x)), np.float32)
except ImportError:

    def _gamma(x):
        return np.ones_like(x)


def main():
    print(jax.pure_callback(_gamma, jax.ShapeDtypeStruct((1,), jnp.float32), jnp.array([4.0])).tolist())
