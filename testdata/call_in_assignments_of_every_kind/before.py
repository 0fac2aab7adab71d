import jax
import jax.numpy as jnp
import numpy as np

S = jax.ShapeDtypeStruct((2,), jnp.float32)


class Box:
    pass


def _sine(x):
    return np.sin(x)


def main():
    x, box, table = jnp.zeros(2), Box(), {0: 1, 1: 2}
    y: jax.Array = jax.pure_callback(_sine, S, x)
    y += jax.pure_callback(lambda v: np.cos(v), S, x)
    box.y = first = jax.pure_callback(_sine, S, x)
    a, *rest = jax.pure_callback(_sine, S, x)
    table[int(jax.pure_callback(_sine, S, x)[0])] += 5
    del table[int(jax.pure_callback(lambda v: np.cos(v), S, x)[0])]
    print(y.tolist(), first.tolist(), float(a), len(rest), table)
