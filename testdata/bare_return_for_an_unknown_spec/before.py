import jax
import jax.numpy as jnp
import numpy as np


def send(value, spec):
    def push(number):
        if float(number) == 0:
            return
        return np.reciprocal(np.asarray(number))

    return jax.pure_callback(push, spec, value)


def main():
    print(send(jnp.float32(0), None), float(send(jnp.float32(4), jax.ShapeDtypeStruct((), jnp.float32))))
