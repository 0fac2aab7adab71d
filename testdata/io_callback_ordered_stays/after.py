import bufcb
import jax
import jax.numpy as jnp
import numpy as np
from jax.experimental import io_callback

_seen = []


@jax.jit
def f(x):
    def note(text):
        def write(x):
            _seen.append(f"{text} {float(x)}")

        return write

    io_callback(note("first"), None, x, ordered=True)
    io_callback(note("then"), None, x, ordered=1)
    return x


def g(x, ordered):
    io_callback(lambda x: _seen.append(float(x)), None, x, ordered=ordered)
    spec = jax.ShapeDtypeStruct((), jnp.float32)

    def _sqrt(ctx, out, x):
        x = np.asarray(x)
        out[...] = np.sqrt(x)
        return

    return bufcb.buffer_callback(
        _sqrt,
        spec,
        has_side_effect=True,
        vmap_method="sequential",
    )(
        # any order will do
        x,
    )


def main():
    print(f(2.0), g(4.0, True))
    jax.effects_barrier()
    print(_seen)
