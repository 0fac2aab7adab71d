import jax
import jax.numpy as jnp
import numpy as np


def _short(x):
    return np.asarray(x)[:1]


def _double(x):
    return np.asarray(x).astype(np.int32)


def main():
    x = jnp.array([1.0, 2.0])
    spec = jax.ShapeDtypeStruct(x.shape, x.dtype)
    for host in (_short, _double):
        try:
            print(jax.pure_callback(host, spec, x))
        except Exception as error:
            print("Incorrect output" in str(error))
    try:
        print(jax.pure_callback(_short, spec, x))
    except Exception as error:
        print("Incorrect output shape for return value #0" in str(error))
    try:
        print(jax.pure_callback(_double, spec, x))
    except Exception as error:
        print("Incorrect output dtype for return value #0" in str(error))
