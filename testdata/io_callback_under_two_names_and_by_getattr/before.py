import jax
import jax.experimental
import jax.numpy as jnp
from jax import experimental as ex
from jax.experimental import io_callback as to_host

_seen = []


def _note(x):
    _seen.append(float(x))


@jax.jit
def f(x):
    to_host(_note, None, x)
    jax.experimental.io_callback(_note, None, x + 1)
    ex.io_callback(callback=_note, result_shape_dtypes=None, x=x + 2)
    getattr(jax.experimental, "io_callback")(_note, None, x + 3)
    return x


def main():
    print(f(jnp.float32(3)))
    jax.effects_barrier()
    print(sorted(_seen))
