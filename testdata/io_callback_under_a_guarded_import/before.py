import jax
import jax.numpy as jnp

try:
    from jax.experimental import io_callback
except ImportError:
    io_callback = None

_seen = []


def _note(x):
    _seen.append(float(x))


@jax.jit
def f(x):
    if io_callback is not None:
        io_callback(_note, None, x)
    return x


def main():
    print(f(jnp.float32(3)))
    jax.effects_barrier()
    print(_seen)
