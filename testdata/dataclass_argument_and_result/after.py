import dataclasses

import bufcb
import jax
import jax.numpy as jnp
import numpy as np


@jax.tree_util.register_dataclass
@dataclasses.dataclass
class State:
    position: jax.Array
    velocity: jax.Array


def _step(state, dt):
    position = np.asarray(state.position) + np.asarray(state.velocity) * np.asarray(dt)
    return State(position, np.asarray(state.velocity))


def main():
    state = State(jnp.zeros(2), jnp.ones(2))
    spec = jax.tree.map(lambda a: jax.ShapeDtypeStruct(a.shape, a.dtype), state)
    after = bufcb.buffer_callback(bufcb.adapt(_step, arrays="jax"), spec)(state, jnp.float32(0.5))
    print(after.position.tolist(), after.velocity.tolist())
