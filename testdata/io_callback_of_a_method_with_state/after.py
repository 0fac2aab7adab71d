import bufcb
import jax
import jax.numpy as jnp
import numpy as np


class Environment:
    def __init__(self):
        self._position = np.zeros(2, np.float32)
        self._steps = 0

    def _step(self, ctx, out, action):
        self._steps += 1
        self._position = self._position + np.asarray(action)
        bufcb.store(out, (self._position, np.bool_(self._steps >= 3)))
        return

    def step(self, action):
        position = jax.ShapeDtypeStruct((2,), jnp.float32)
        done = jax.ShapeDtypeStruct((), jnp.bool_)
        return bufcb.buffer_callback(
            self._step, (position, done), has_side_effect=True, vmap_method="sequential"
        )(action)


def main():
    environment = Environment()

    @jax.jit
    def episode(action):
        def go_on(state):
            return ~state[1]

        def go(state):
            return environment.step(action)

        return jax.lax.while_loop(go_on, go, (jnp.zeros(2), jnp.bool_(False)))

    position, done = episode(jnp.ones(2))
    print(position.tolist(), done, environment._steps)
