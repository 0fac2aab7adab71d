import jax
import jax.numpy as jnp
import numpy as np


def _step(state, force):
    return np.rint(np.asarray(state) + np.asarray(force))


def step(state, force):
    state = jax.pure_callback(_step, jax.ShapeDtypeStruct(state.shape, state.dtype), state, force)
    return state, state


@jax.jit
def loss(start, forces):
    _, path = jax.lax.scan(step, start, forces)
    return jnp.sum(path)


gradient = jax.grad(loss)


def main():
    print(loss(jnp.float32(0), jnp.ones(2)))
