import jax
import jax.numpy as jnp
import numpy as np

SCALE = np.float32(2)  # bufcb: skip


def _host(x):
    return np.multiply(x, SCALE)


def main():
    x = jnp.arange(3.0)
    print(jax.pure_callback(_host, jax.ShapeDtypeStruct(x.shape, x.dtype), x).tolist())
