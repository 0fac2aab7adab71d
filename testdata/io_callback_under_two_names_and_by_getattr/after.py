import bufcb
import jax
import jax.experimental
import jax.numpy as jnp

_seen = []


def _note(ctx, out, x):
    _seen.append(float(x))


@jax.jit
def f(x):
    bufcb.buffer_callback(_note, None, has_side_effect=True, vmap_method="sequential")(x)
    bufcb.buffer_callback(_note, None, has_side_effect=True, vmap_method="sequential")(x + 1)
    bufcb.buffer_callback(_note, None, has_side_effect=True, vmap_method="sequential")(x=x + 2)
    bufcb.buffer_callback(_note, None, has_side_effect=True, vmap_method="sequential")(x + 3)
    return x


def main():
    print(f(jnp.float32(3)))
    jax.effects_barrier()
    print(sorted(_seen))
