import functools

import bufcb
import jax
import jax.numpy as jnp
import numpy as np

from solvers import relax

SPEC = {
    "position": jax.ShapeDtypeStruct((2,), jnp.float32),
    "velocity": jax.ShapeDtypeStruct((2,), jnp.float32),
}


def _relax_into(ctx, out, state, rate):
    bufcb.store(out, relax(bufcb.to_numpy(state), np.asarray(rate)))
    return


class Model:
    """Two steppers that share a callback of the project's own package."""

    def damped(self, state):
        return bufcb.buffer_callback(_relax_into, SPEC)(state, 0.5)

    def scanned(self, state):
        def step(carry, _):
            return bufcb.buffer_callback(_relax_into, SPEC, vmap_method="sequential")(carry, 0.25), None

        return jax.lax.scan(step, state, length=2)[0]


def main():
    state = {"position": jnp.zeros(2), "velocity": jnp.arange(2.0)}
    model = Model()
    for run in (model.damped, model.scanned, functools.partial(jax.jit(model.scanned))):
        found = run(state)
        print(found["position"].tolist(), found["velocity"].tolist())
