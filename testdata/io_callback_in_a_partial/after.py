
import bufcb
import jax
import jax.numpy as jnp

_seen = []


def _note(ctx, out, x):
    _seen.append(float(x))


def run(x):
    note = bufcb.buffer_callback(_note, None, has_side_effect=True, vmap_method="sequential")
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
