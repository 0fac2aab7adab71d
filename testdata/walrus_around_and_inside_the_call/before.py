import jax
import jax.numpy as jnp
import numpy as np


def _host(x):
    return np.square(x)


def main():
    if (y := jax.pure_callback(_host, (s := jax.ShapeDtypeStruct((3,), jnp.float32)), (x := jnp.arange(3.0)))).sum() > 0:
        print(y.tolist(), s.shape, x.shape)
