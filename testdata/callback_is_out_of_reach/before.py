import jax
import jax.numpy as jnp
import numpy as np

globals()["_hidden"] = lambda v: np.asarray(v)


def main():
    x = jnp.arange(2.0)
    print(jax.pure_callback(_hidden, jax.ShapeDtypeStruct(x.shape, x.dtype), x).tolist())  # noqa: F821
