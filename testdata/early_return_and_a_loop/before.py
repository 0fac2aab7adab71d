import jax
import jax.numpy as jnp
import numpy as np


def _first_above(values, limit):
    values = np.asarray(values)
    for index, value in enumerate(values):
        if value > float(limit):
            return np.int32(index)
    return np.int32(-1)


def first_above(values, limit):
    spec = jax.ShapeDtypeStruct((), jnp.int32)
    return jax.pure_callback(_first_above, spec, values, limit)


def main():
    values = jnp.array([1.0, 3.0, 2.0])
    print(first_above(values, 1.5), first_above(values, 9.0))
