import jax
import jax.numpy as jnp
from host import io_callback


class Tool:
    def __init__(self, backend):
        self.backend = backend

    def run(self, x):
        return self.backend.io_callback(len, None, x)


@jax.jit
def f(x):
    return io_callback(jnp.sin, x)


def main():
    print(f(jnp.float32(0)), Tool(None).backend)
