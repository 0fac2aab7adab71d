import bufcb
import jax
import jax.numpy as jnp
import numpy as np


def _energy(ctx, out, x, scale):
    out[...] = np.asarray(np.sum(np.rint(np.asarray(x))) * np.asarray(scale), np.float32)
    return


@jax.custom_jvp
def _energy_call(x, scale):
    return bufcb.buffer_callback(_energy, jax.ShapeDtypeStruct((), jnp.float32))(x, scale)


@_energy_call.defjvp
def _energy_jvp(primals, tangents):
    x, scale = primals
    x_tangent, scale_tangent = tangents
    result = _energy_call(*primals)
    raise NotImplementedError(
        "_energy_jvp: fill in the tangent of the result, then delete this line. "
        "Gradients reach it from jax.hessian (program.py:33)."
    )
    return result, jnp.zeros_like(result)


def energy(x):
    return _energy_call(x, 0.5)


curvature = jax.hessian(energy)


def main():
    print(energy(jnp.arange(3.0)))
