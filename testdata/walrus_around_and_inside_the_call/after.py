import bufcb
import jax
import jax.numpy as jnp
import numpy as np


def _host(ctx, out, x):
    x = np.asarray(x)
    bufcb.store(out, np.square(x))
    return


def main():
    if (y := bufcb.buffer_callback(_host, (s := jax.ShapeDtypeStruct((3,), jnp.float32)))((x := jnp.arange(3.0)))).sum() > 0:
        print(y.tolist(), s.shape, x.shape)
