import functools

import jax
import jax.numpy as jnp
from jax.experimental import io_callback

_seen = []


def _note(x):
    _seen.append(float(x))


def run(x):
    note = functools.partial(io_callback, _note, None)
    note(x)
    note(x + 1)
    return x


def main():
    print(jax.jit(run)(1.0))
    jax.effects_barrier()
    print(sorted(_seen))
    print(jax.vmap(run)(jnp.arange(2.0)).tolist())
    jax.effects_barrier()
    print(sorted(_seen))
