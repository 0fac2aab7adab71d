import jax
import jax.numpy as jnp
import numpy as np


def total(*arrays):
    spec = jax.ShapeDtypeStruct(arrays[0].shape, arrays[0].dtype)
    return jax.pure_callback(lambda *a: np.add.reduce([np.asarray(v) for v in a]), spec, *arrays)


def main():
    print(total(jnp.ones(2), jnp.arange(2.0)).tolist())
