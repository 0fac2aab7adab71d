import jax
import jax.numpy as jnp
import numpy as np

LOG = []


def _host(x):
    x = np.asarray(x)
    global LOG
    LOG += [x]
    return np.square(x)


def main():
    for k in range(2):
        x = jnp.arange(3.0) + k
        print(jax.pure_callback(_host, jax.ShapeDtypeStruct(x.shape, x.dtype), x).tolist())
