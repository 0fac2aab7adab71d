import bufcb
import jax
import jax.numpy as jnp
import numpy as np


def _host(ctx, out, x):
    x = np.asarray(x)
    both = [np.sin(x), np.cos(x)]
    rest = None
    bufcb.store(out, (both, rest))
    return


def main():
    x = jnp.zeros(2)
    s = jax.ShapeDtypeStruct(x.shape, x.dtype)
    print([r.tolist() for r in bufcb.buffer_callback(_host, (s, s))(x)])
