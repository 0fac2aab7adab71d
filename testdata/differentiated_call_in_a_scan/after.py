import bufcb
import jax
import jax.numpy as jnp
import numpy as np


def _step(ctx, out, state, force):
    out[...] = np.rint(np.asarray(state) + np.asarray(force))
    return


@jax.custom_vjp
def _step_call(state, force):
    state = jnp.asarray(state)
    return bufcb.buffer_callback(
        _step, jax.ShapeDtypeStruct(state.shape, state.dtype)
    )(state, force)


def _step_fwd(state, force):
    return _step_call(state, force), (state, force)


def _step_bwd(residuals, cotangent):
    state, force = residuals
    raise NotImplementedError(
        "_step_bwd: fill in the cotangents of state and force, then delete this line. "
        "Gradients reach it from jax.grad (program.py:47)."
    )
    return jnp.zeros_like(state), jax.tree.map(jnp.zeros_like, force)


_step_call.defvjp(_step_fwd, _step_bwd)


def step(state, force):
    state = _step_call(state, force)
    return state, state


@jax.jit
def loss(start, forces):
    _, path = jax.lax.scan(step, start, forces)
    return jnp.sum(path)


gradient = jax.grad(loss)


def main():
    print(loss(jnp.float32(0), jnp.ones(2)))
