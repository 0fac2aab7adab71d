import jax
import jax.numpy as jnp


@jax.jit
def _sine(x):
    return jnp.sin(x)


def main():
    x = jnp.zeros(2)
    print(jax.pure_callback(_sine, jax.ShapeDtypeStruct(x.shape, x.dtype), x).tolist())
