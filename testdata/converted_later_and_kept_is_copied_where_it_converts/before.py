import jax
import jax.numpy as jnp
import numpy as np

LATEST = {}


def _keep(x, verbose=False):
    if x.ndim != 1:
        raise ValueError("one axis, please")
    values = np.asarray(x)
    LATEST["values"] = values
    return np.sort(values)


def main():
    x = jnp.arange(3.0)
    print(jax.pure_callback(_keep, jax.ShapeDtypeStruct(x.shape, x.dtype), x).tolist())
    print(LATEST["values"].tolist())
