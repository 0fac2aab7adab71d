import threading
import warnings

import bufcb
import jax
import jax.numpy as jnp
import numpy as np

LOCK = threading.Lock()


def _logs(ctx, out, x):
    x = np.asarray(x)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        with LOCK, np.errstate(divide="ignore"):
            result = np.log(x)
    out[...] = result
    return


def main():
    print(bufcb.buffer_callback(_logs, jax.ShapeDtypeStruct((1,), jnp.float32))(jnp.ones(1)).tolist())
