import jax
import jax.numpy as jnp
import numpy as np
from jax.experimental import io_callback

_numbers = iter(range(10))


@jax.jit
def draw():
    spec = jax.ShapeDtypeStruct((), jnp.float32)
    return io_callback(lambda: np.float32(next(_numbers)), spec)


def main():
    print(sorted(draw().item() for _ in range(3)))
    print(jax.vmap(lambda x: x + draw())(jnp.zeros(2)).tolist())
