import jax
import jax.numpy as jnp
import numpy as np

S = jax.ShapeDtypeStruct((), jnp.int32)


def _count(x):
    return np.int32(np.asarray(x).size)


def main():
    x = jnp.zeros(3)
    print([jax.pure_callback(_count, S, x).item(), *jax.pure_callback(_count, S, x).reshape(1).tolist()])
    print({"n": jax.pure_callback(_count, S, x).item(), **{"m": int(jax.pure_callback(_count, S, x))}})
    print({int(jax.pure_callback(_count, S, x)), 3}, x[: int(jax.pure_callback(_count, S, x)) - 1].tolist())
    print(*jax.pure_callback(_count, S, x).reshape(1).tolist(), sum(jax.pure_callback(_count, S, y) for y in (x, x)))
