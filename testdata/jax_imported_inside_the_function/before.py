import numpy as np


def host_square(x):
    """Squares on the host."""
    import jax

    def square(v):
        return np.square(v)

    return jax.pure_callback(square, jax.ShapeDtypeStruct(x.shape, x.dtype), x)


def main():
    import jax.numpy as jnp

    print(host_square(jnp.arange(3.0)).tolist())
