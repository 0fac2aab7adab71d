import jax
import jax.numpy as jnp
import numpy as np

LOG = []


def _remember(x, y):
    x = np.asarray(x)
    y = np.asarray(y, np.float32)
    LOG.append(x)
    LOG.append(y)
    return np.add(x, y)


def main():
    x = jnp.arange(3.0)
    jax.pure_callback(_remember, jax.ShapeDtypeStruct(x.shape, x.dtype), x, x)
    print(jax.pure_callback(_remember, jax.ShapeDtypeStruct(x.shape, x.dtype), x + 1, x).tolist())
    print([entry.tolist() for entry in LOG])
