import bufcb
import jax
import jax.numpy as jnp

_steps = []


def _note(ctx, out, step):
    _steps.append(int(step))


def _note_positive(ctx, out, step):
    step = bufcb.to_numpy(step)
    if step <= 0:
        return
    _steps.append(int(step))


@jax.jit
def f(steps):
    def body(total, step):
        nothing = bufcb.buffer_callback(
            _note, None, has_side_effect=True, vmap_method="sequential"
        )(step)
        nobody = bufcb.buffer_callback(
            _note_positive, [], has_side_effect=True, vmap_method="sequential"
        )(-step)
        assert nothing is None and nobody == []
        return total + step, None

    return jax.lax.scan(body, 0, steps)[0]


def main():
    print(f(jnp.arange(5)))
    jax.effects_barrier()
    print(sorted(_steps))
