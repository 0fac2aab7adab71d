import jax
import jax.numpy as jnp
import numpy as np


def main():
    x = jnp.array([1.0, 4.0])
    spec = jax.ShapeDtypeStruct(x.shape, x.dtype)
    pair = jax.pure_callback(lambda v: np.sqrt(v), spec, x), jax.pure_callback(lambda v: np.exp2(v), spec, x)
    print([p.tolist() for p in pair])
