import jax
import jax.numpy as jnp
import numpy as np
from jax.experimental import io_callback


def count(n):
    calls = 0

    def bump(x):
        nonlocal calls
        calls += 1
        return np.int32(calls + x.shape[0])

    @jax.jit
    def f(x):
        return io_callback(bump, jax.ShapeDtypeStruct((), jnp.int32), x)

    return [f(jnp.zeros(2)).item() for _ in range(n)], calls


def main():
    print(count(3))
