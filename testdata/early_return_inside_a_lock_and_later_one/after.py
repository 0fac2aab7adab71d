import threading

import bufcb
import jax
import jax.numpy as jnp
import numpy as np

LOCK = threading.RLock()
CACHE = {}


def _cached(ctx, out, key, x):
    key = int(key)
    with LOCK:
        if key in CACHE:
            out[...] = np.asarray(CACHE[key])
            return
    value = np.array(x) * np.float32(2)
    with LOCK:
        CACHE[key] = value
    out[...] = value
    return


def main():
    x = jnp.arange(2.0)
    spec = jax.ShapeDtypeStruct(x.shape, x.dtype)
    print([bufcb.buffer_callback(_cached, spec)(jnp.int32(1), v).tolist() for v in (x, x + 1)])
