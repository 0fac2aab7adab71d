import jax
import jax.numpy as jnp
import numpy as np

S = jax.ShapeDtypeStruct((2,), jnp.float32)


def sine(x): return jax.pure_callback(lambda v: np.sin(v), S, x)


def power(x, n): return jax.pure_callback(lambda v: np.power(v, n), S, x)


def main():
    x = jnp.zeros(2)
    print(sine(x).tolist(), power(x, np.float32(2)).tolist())
