import jax
import jax.numpy as jnp
from scipy import special


def _digamma(x):
    return special.digamma(x)


def main():
    bufcb = np = jnp.array([1.0])
    y = jax.pure_callback(_digamma, jax.ShapeDtypeStruct(np.shape, np.dtype), bufcb)
    print([round(v, 5) for v in y.tolist()])
