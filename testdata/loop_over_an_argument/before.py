import jax
import jax.numpy as jnp
import numpy as np


def _host(x):
    rows = [np.sort(row)[::-1] for row in x]
    return np.stack(rows)


def _vals(x):
    return np.array([f"{v}" == "1.0" for v in x])


def main():
    x = jnp.arange(4.0).reshape(2, 2)
    print(jax.pure_callback(_host, jax.ShapeDtypeStruct((2, 2), jnp.float32), x).tolist())
    print(jax.pure_callback(_vals, jax.ShapeDtypeStruct((4,), jnp.bool_), x.ravel()).tolist())
