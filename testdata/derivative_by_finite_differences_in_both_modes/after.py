import bufcb
import jax
import jax.numpy as jnp
import numpy as np


def _energy(ctx, out, x):
    out[...] = np.asarray(np.sum(np.cosh(np.unwrap(np.asarray(x)))), np.float32)
    return


@jax.custom_jvp
def _energy_call(x):
    return bufcb.buffer_callback(_energy, jax.ShapeDtypeStruct((), jnp.float32))(x)


@_energy_call.defjvp
def _energy_jvp(primals, tangents):
    return bufcb.finite_difference_jvp(_energy_call, primals, tangents)


def energy(x):
    return _energy_call(x)


def main():
    x = jnp.array([0.5, 1.0])
    print(np.round(jax.grad(energy)(x), 2), round(float(jax.jvp(energy, (x,), (x,))[1]), 2))
