import bufcb
import jax
import jax.numpy as jnp
from jax.experimental import *

_seen = []


def _note(x):
    _seen.append(float(x))


@jax.jit
def f(x):
    bufcb.buffer_callback(
        bufcb.adapt(_note, arrays="jax"), None, has_side_effect=True, vmap_method="sequential"
    )(x)
    return x


def main():
    print(f(jnp.float32(3)))
    jax.effects_barrier()
    print(_seen)
