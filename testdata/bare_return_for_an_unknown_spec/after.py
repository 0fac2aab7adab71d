import bufcb
import jax
import jax.numpy as jnp
import numpy as np


def send(value, spec):
    def push(ctx, out, number):
        if float(number) == 0:
            bufcb.store(out, None)
            return
        bufcb.store(out, np.reciprocal(np.asarray(number)))
        return

    return bufcb.buffer_callback(push, spec)(value)


def main():
    print(send(jnp.float32(0), None), float(send(jnp.float32(4), jax.ShapeDtypeStruct((), jnp.float32))))
