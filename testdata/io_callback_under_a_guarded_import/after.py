import bufcb
import jax
import jax.numpy as jnp

try:
    from jax.experimental import io_callback
except ImportError:
    io_callback = None

_seen = []


def _note(ctx, out, x):
    _seen.append(float(x))


@jax.jit
def f(x):
    if io_callback is not None:
        bufcb.buffer_callback(_note, None, has_side_effect=True, vmap_method="sequential")(x)
    return x


def main():
    print(f(jnp.float32(3)))
    jax.effects_barrier()
    print(_seen)
