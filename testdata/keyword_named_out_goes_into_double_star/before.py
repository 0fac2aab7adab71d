import jax
import jax.numpy as jnp
import numpy as np


def _total(x, **weights):
    total = np.array(x)
    for name in sorted(weights):
        total = total + np.asarray(weights[name])
    return total


def main():
    x = jnp.arange(3.0)
    spec = jax.ShapeDtypeStruct(x.shape, x.dtype)
    y = jax.pure_callback(_total, spec, x, out=jnp.ones(3), ctx=jnp.full(3, 2.0))
    print(y.tolist())
