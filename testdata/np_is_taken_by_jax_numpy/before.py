import jax
import jax.numpy as np
from scipy import special


def _digamma(x):
    return special.digamma(x)


def main():
    x = np.array([1.0])
    y = jax.pure_callback(_digamma, jax.ShapeDtypeStruct(x.shape, x.dtype), x)
    print([round(v, 5) for v in y.tolist()])
