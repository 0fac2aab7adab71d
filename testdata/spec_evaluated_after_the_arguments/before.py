import jax
import jax.numpy as jnp
import numpy as np


def _host(x):
    return np.square(x)


def main():
    spec = jax.ShapeDtypeStruct((), jnp.float32)
    steps = iter([jnp.float32(3), spec])
    print(jax.pure_callback(_host, x=next(steps), result_shape_dtypes=next(steps)).tolist())
