import jax
import jax.numpy as jnp
import numpy as np


def reference(x):
    return jnp.cumsum(x), x.sum()


def _cumulative(x):
    x = np.asarray(x)
    return np.cumsum(x), np.add.reduce(x)


def cumulative(x):
    spec = jax.eval_shape(reference, x)
    return jax.pure_callback(_cumulative, spec, x)


def main():
    sums, total = cumulative(jnp.arange(4.0))
    print(sums.tolist(), float(total))
