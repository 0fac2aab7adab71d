import threading

import bufcb
import jax
import jax.numpy as jnp
import numpy as np

_LOCK = threading.Lock()
_STATE = {"calls": 0}


def _count(ctx, out, x):
    x = np.asarray(x)
    with _LOCK:
        _STATE["calls"] += 1
        out[...] = np.square(x)
        return


def main():
    x = jnp.arange(3.0)
    print(bufcb.buffer_callback(_count, jax.ShapeDtypeStruct((3,), jnp.float32))(x).tolist(), _STATE)
