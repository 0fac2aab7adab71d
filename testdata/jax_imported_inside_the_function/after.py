import numpy as np


def host_square(x):
    """Squares on the host."""
    import bufcb
    import jax

    def square(ctx, out, v):
        v = np.asarray(v)
        out[...] = np.square(v)
        return

    return bufcb.buffer_callback(square, jax.ShapeDtypeStruct(x.shape, x.dtype))(x)


def main():
    import jax.numpy as jnp

    print(host_square(jnp.arange(3.0)).tolist())
