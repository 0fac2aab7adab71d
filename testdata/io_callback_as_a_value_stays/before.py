import functools

import jax
import jax.numpy as jnp
from jax.experimental import io_callback

_seen = []
_call = io_callback
_later = functools.partial(io_callback, ordered=False)


def _note(x):
    _seen.append(float(x))


@jax.jit
def f(x, call=io_callback):
    call(_note, None, x)
    _call(_note, None, 2 * x)
    _later(_note, None, 3 * x)
    io_callback(*(_note, None), 4 * x)
    io_callback(_note, None, 5 * x, **{"sharding": None})
    return x


def main():
    print(f(jnp.float32(1)))
    jax.effects_barrier()
    print(sorted(_seen))
