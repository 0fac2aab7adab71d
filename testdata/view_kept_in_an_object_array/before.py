import jax
import jax.numpy as jnp
import numpy as np

LOG = []


def _host(x):
    x = np.asarray(x)
    row = np.empty(1, object)
    row[0] = x
    LOG.append(row)
    LOG.append(np.array([x, None], dtype=object))
    return np.square(x)


def main():
    for k in range(2):
        x = jnp.arange(3.0) + k
        print(jax.pure_callback(_host, jax.ShapeDtypeStruct(x.shape, x.dtype), x).tolist())
