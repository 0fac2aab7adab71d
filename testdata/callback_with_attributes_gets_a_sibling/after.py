import bufcb
import jax
import jax.numpy as jnp
import numpy as np


def _host(x):
    _host.calls += 1
    return np.square(x)


def _host_into(ctx, out, x):
    out[...] = _host(np.asarray(x))
    return


_host.calls = 0


def main():
    print(bufcb.buffer_callback(
        _host_into, jax.ShapeDtypeStruct((2,), jnp.float32)
    )(jnp.arange(2.0)).tolist(), _host.calls)
