import threading
import warnings

import jax
import jax.numpy as jnp
import numpy as np

LOCK = threading.Lock()


def _logs(x):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        with LOCK, np.errstate(divide="ignore"):
            return np.log(x)


def main():
    print(jax.pure_callback(_logs, jax.ShapeDtypeStruct((1,), jnp.float32), jnp.ones(1)).tolist())
