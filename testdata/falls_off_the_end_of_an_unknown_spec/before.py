import jax
import jax.numpy as jnp


def observe(step, spec):
    def note(value):
        if float(value) < 0:
            raise ValueError("negative")

    return jax.pure_callback(note, spec, step)


def main():
    print(observe(jnp.float32(1), None), observe(jnp.float32(2), ()))
