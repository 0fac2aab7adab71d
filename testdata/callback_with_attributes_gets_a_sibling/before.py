import jax
import jax.numpy as jnp
import numpy as np


def _host(x):
    _host.calls += 1
    return np.square(x)


_host.calls = 0


def main():
    print(jax.pure_callback(_host, jax.ShapeDtypeStruct((2,), jnp.float32), jnp.arange(2.0)).tolist(), _host.calls)
