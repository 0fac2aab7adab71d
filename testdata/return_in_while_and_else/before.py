import jax
import jax.numpy as jnp
import numpy as np


def _collatz(n):
    n, steps = int(n), 0
    while n != 1:
        n = n // 2 if n % 2 == 0 else 3 * n + 1
        steps += 1
        if steps > 100:
            return np.int32(-1)
    else:
        return np.int32(steps)


def main():
    spec = jax.ShapeDtypeStruct((), jnp.int32)
    print(int(jax.pure_callback(_collatz, spec, jnp.int32(6))))
    print(int(jax.pure_callback(_collatz, spec, jnp.int32(27))))
