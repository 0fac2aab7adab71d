import bufcb
import jax
import jax.numpy as jnp
import numpy as np


def _collatz(ctx, out, n):
    n, steps = int(n), 0
    while n != 1:
        n = n // 2 if n % 2 == 0 else 3 * n + 1
        steps += 1
        if steps > 100:
            out[...] = np.int32(-1)
            return
    else:
        out[...] = np.int32(steps)
        return


def main():
    spec = jax.ShapeDtypeStruct((), jnp.int32)
    print(int(bufcb.buffer_callback(_collatz, spec)(jnp.int32(6))))
    print(int(bufcb.buffer_callback(_collatz, spec)(jnp.int32(27))))
