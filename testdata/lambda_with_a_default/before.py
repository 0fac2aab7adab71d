import jax
import jax.numpy as jnp
import numpy as np


def powers(x):
    results = []
    for n in range(1, 4):
        spec = jax.ShapeDtypeStruct(x.shape, x.dtype)
        results.append(jax.pure_callback(lambda v, n=n: np.power(np.asarray(v), np.float32(n)), spec, x))
    return results


def main():
    print([p.tolist() for p in powers(jnp.array([1.0, 2.0]))])
