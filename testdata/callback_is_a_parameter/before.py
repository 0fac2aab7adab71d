import jax
import jax.numpy as jnp
import numpy as np


def host_map(f, x):
    return jax.pure_callback(f, jax.ShapeDtypeStruct(x.shape, x.dtype), x)


def main():
    print(host_map(lambda v: np.asarray(v) + np.float32(1), jnp.arange(2.0)).tolist())
