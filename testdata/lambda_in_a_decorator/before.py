import jax
import jax.numpy as jnp
import numpy as np


def offset_by(amount):
    return lambda function: lambda x: function(x) + amount


@offset_by(jax.pure_callback(lambda v: np.cbrt(v), jax.ShapeDtypeStruct((), jnp.float32), jnp.float32(8)))
def identity(x):
    return x


def main():
    print(float(identity(1.0)))
