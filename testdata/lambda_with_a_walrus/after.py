import bufcb
import jax
import jax.numpy as jnp
import numpy as np


def run(x):
    spec = jax.ShapeDtypeStruct(x.shape, x.dtype)

    def _run_host(ctx, out, v):
        out[...] = (w := np.asarray(v)) + w
        return

    return bufcb.buffer_callback(_run_host, spec)(x)


def main():
    print(run(jnp.arange(3.0)).tolist())
