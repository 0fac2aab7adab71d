import bufcb
import jax
import jax.numpy as jnp
import numpy as np


def _sort(ctx, out, x):
    out[...] = np.sort(np.asarray(x))
    return


def _halve(x):
    return x // 2


def run(x):
    spec = jax.ShapeDtypeStruct(x.shape, x.dtype)
    return bufcb.buffer_callback(_sort, spec)(jax.pure_callback(_halve, spec, x))


def main():
    print(run(jnp.array([9, 5, 7])).tolist())
