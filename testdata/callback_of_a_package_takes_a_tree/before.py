import functools

import jax
import jax.numpy as jnp

from solvers import relax

SPEC = {
    "position": jax.ShapeDtypeStruct((2,), jnp.float32),
    "velocity": jax.ShapeDtypeStruct((2,), jnp.float32),
}


class Model:
    """Two steppers that share a callback of the project's own package."""

    def damped(self, state):
        return jax.pure_callback(relax, SPEC, state, 0.5)

    def scanned(self, state):
        def step(carry, _):
            return jax.pure_callback(relax, SPEC, carry, 0.25, vmap_method="sequential"), None

        return jax.lax.scan(step, state, length=2)[0]


def main():
    state = {"position": jnp.zeros(2), "velocity": jnp.arange(2.0)}
    model = Model()
    for run in (model.damped, model.scanned, functools.partial(jax.jit(model.scanned))):
        found = run(state)
        print(found["position"].tolist(), found["velocity"].tolist())
