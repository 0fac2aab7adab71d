import jax
import jax.numpy as jnp
import numpy as np


def _parts(x):
    x = np.asarray(x)
    return {"whole": np.trunc(x), "fraction": np.fmod(x, 1)}


def main():
    spec = jax.ShapeDtypeStruct((2,), jnp.float32)
    print([p.tolist() for p in jax.pure_callback(_parts, (spec, spec), jnp.array([1.5, 2.25]))])
