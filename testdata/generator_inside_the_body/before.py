import jax
import jax.numpy as jnp
import numpy as np


def _weighted(x):
    x = np.asarray(x)

    def parts():
        for value in x:
            yield value * np.float32(2)

    return np.stack(list(parts()))


def main():
    x = jnp.arange(2.0)
    print(jax.pure_callback(_weighted, jax.ShapeDtypeStruct(x.shape, x.dtype), x).tolist())
