import jax
import jax.numpy as jnp
import numpy as np

SEEN = []


def _halve(x):
    x = np.asarray(x)
    SEEN.append(x)
    return x / 2 if x.flags.writeable else x * 2


def main():
    x = jnp.arange(3.0)
    print(jax.pure_callback(_halve, jax.ShapeDtypeStruct((3,), jnp.float32), x).tolist())
