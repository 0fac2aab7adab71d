import jax
import jax.numpy as jnp
import numpy as np


def run(function, x):
    return jax.pure_callback(function, jax.ShapeDtypeStruct(x.shape, x.dtype), x, vectorized=True)


def main():
    print(run(lambda v, vectorized: np.asarray(v), jnp.arange(2.0)).tolist())
