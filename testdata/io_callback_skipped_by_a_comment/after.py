import bufcb
import jax
import jax.numpy as jnp
import numpy as np
from jax.experimental import io_callback

_seen = []


def _note(x):
    _seen.append(float(x))


def _note_into(ctx, out, x):
    bufcb.store(out, _note(np.asarray(x)))
    return


@jax.jit
def f(x):
    io_callback(_note, None, x)  # bufcb: skip
    io_callback(_note, None, x, ordered=True)  # bufcb: skip[BC210]
    bufcb.buffer_callback(_note_into, None, has_side_effect=True, vmap_method="sequential")(x)
    return x


def main():
    print(f(jnp.float32(3)))
    jax.effects_barrier()
    print(_seen)
