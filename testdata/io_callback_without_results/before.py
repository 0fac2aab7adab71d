import jax
import jax.numpy as jnp
from jax.experimental import io_callback

_steps = []


def _note(step):
    _steps.append(int(step))


def _note_positive(step):
    if step <= 0:
        return
    _steps.append(int(step))


@jax.jit
def f(steps):
    def body(total, step):
        nothing = io_callback(_note, None, step)
        nobody = io_callback(_note_positive, [], -step)
        assert nothing is None and nobody == []
        return total + step, None

    return jax.lax.scan(body, 0, steps)[0]


def main():
    print(f(jnp.arange(5)))
    jax.effects_barrier()
    print(sorted(_steps))
