import bufcb
import jax
import jax.numpy as jnp
import numpy as np


def _host(ctx, out, x, y):
    x = 5
    total = [y for y in range(x)]
    del x
    out[...] = np.asarray(y) + np.float32(len(total))
    return


def main():
    print(bufcb.buffer_callback(_host, jax.ShapeDtypeStruct((2,), jnp.float32))(jnp.arange(2.0), jnp.ones(2)).tolist())
