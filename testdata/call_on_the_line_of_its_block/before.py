import jax
import jax.numpy as jnp
import numpy as np


def _sine(x): return np.sin(x)


def run(x, kind):
    spec = jax.ShapeDtypeStruct(x.shape, x.dtype)
    if kind == "sine": return jax.pure_callback(_sine, spec, x)
    for _ in range(2): x = jax.pure_callback(lambda v: np.cos(v), spec, x)
    return x


def main():
    x = jnp.zeros(2)
    print(run(x, "sine").tolist(), np.round(run(x, "cosine"), 4).tolist())
