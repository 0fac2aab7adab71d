import jax
import jax.numpy as jnp
import numpy as np


def _first_large(x):
    if (large := np.asarray(x) > 1).any():
        return np.int32(large.argmax())
    return np.int32(-1)


def main():
    spec = jax.ShapeDtypeStruct((), jnp.int32)
    print(int(jax.pure_callback(_first_large, spec, jnp.array([0.0, 2.0]))))
