import bufcb
import jax
import jax.numpy as jnp
import numpy as np


def _sine(ctx, out, x): x = np.asarray(x); out[...] = np.sin(x); return


def run(x, kind):
    spec = jax.ShapeDtypeStruct(x.shape, x.dtype)
    if kind == "sine": return bufcb.buffer_callback(_sine, spec)(x)

    def _cos(ctx, out, v):
        v = np.asarray(v)
        out[...] = np.cos(v)
        return

    for _ in range(2): x = bufcb.buffer_callback(_cos, spec)(x)
    return x


def main():
    x = jnp.zeros(2)
    print(run(x, "sine").tolist(), np.round(run(x, "cosine"), 4).tolist())
