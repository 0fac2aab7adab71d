import jax
import jax.numpy as jnp
import numpy as np


def run(x):
    spec = jax.ShapeDtypeStruct(x.shape, x.dtype)
    return jax.pure_callback(lambda v: (w := np.asarray(v)) + w, spec, x)


def main():
    print(run(jnp.arange(3.0)).tolist())
