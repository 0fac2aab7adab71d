import bufcb
import jax
import jax.numpy as jnp
import numpy as np


def _pair(ctx, out, x):
    x = np.asarray(x)
    bufcb.store(out, [x, np.negative(x)])
    return


def main():
    spec = jax.ShapeDtypeStruct((2,), jnp.float32)
    first, second = bufcb.buffer_callback(_pair, (spec, spec))(jnp.arange(2.0))
    print(first.tolist(), second.tolist())
