import bufcb
import jax
import jax.numpy as jnp


@jax.jit
def _sine(x):
    return jnp.sin(x)


def main():
    x = jnp.zeros(2)
    print(bufcb.buffer_callback(bufcb.adapt(_sine, arrays="jax"), jax.ShapeDtypeStruct(x.shape, x.dtype))(x).tolist())
