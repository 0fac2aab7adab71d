import contextlib

import bufcb
import jax
import jax.numpy as jnp
import numpy as np

S = jax.ShapeDtypeStruct((), jnp.float32)


def run(x):
    def _square(ctx, out, v):
        v = np.asarray(v)
        out[...] = np.square(v)
        return

    assert bufcb.buffer_callback(_square, S)(x) > 0, "positive"

    def _run_host(ctx, out, v):
        v = np.asarray(v)
        out[...] = np.square(v)
        return

    with contextlib.nullcontext(bufcb.buffer_callback(_run_host, S)(x)) as y:
        def _cbrt(ctx, out, v):
            v = np.asarray(v)
            out[...] = np.cbrt(v)
            return

        for k in range(int(bufcb.buffer_callback(_cbrt, S)(x))):
            y = y + k

    def _negative(ctx, out, v):
        v = np.asarray(v)
        out[...] = np.negative(v)
        return

    x += bufcb.buffer_callback(_negative, S)(y)
    try:
        def _positive(ctx, out, v):
            v = np.asarray(v)
            out[...] = np.positive(v)
            return

        return bufcb.buffer_callback(_positive, S)(x)
    finally:
        del x


def main():
    print(float(run(jnp.float32(27))))
