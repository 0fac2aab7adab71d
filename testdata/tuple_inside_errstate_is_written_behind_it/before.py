import jax
import jax.numpy as jnp
import numpy as np


def _logs(x):
    with np.errstate(all="ignore"):
        return np.log(x), np.log2(x)


def main():
    spec = jax.ShapeDtypeStruct((2,), jnp.float32)
    print([r.tolist() for r in jax.pure_callback(_logs, (spec, spec), jnp.array([0.0, 1.0]))])
