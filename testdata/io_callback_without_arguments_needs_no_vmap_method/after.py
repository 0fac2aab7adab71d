import bufcb
import jax
import jax.numpy as jnp
import numpy as np

_numbers = iter(range(10))


@jax.jit
def draw():
    spec = jax.ShapeDtypeStruct((), jnp.float32)

    def _next(ctx, out):
        out[...] = np.float32(next(_numbers))
        return

    return bufcb.buffer_callback(_next, spec, has_side_effect=True)()


def main():
    print(sorted(draw().item() for _ in range(3)))
    print(jax.vmap(lambda x: x + draw())(jnp.zeros(2)).tolist())
