import bufcb
import jax
import jax.numpy as jnp
import numpy as np


def host_square(spec, x):
    def square(ctx, out, values):
        values = np.asarray(values)
        bufcb.store(out, np.square(values))
        return

    return bufcb.buffer_callback(square, spec)(x)


def main():
    x = jnp.arange(3.0)
    print(host_square(jax.ShapeDtypeStruct(x.shape, x.dtype), x).tolist())
