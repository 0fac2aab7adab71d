import jax
import jax.numpy as jnp
import numpy as np
import scipy.special


def _bessel(z):
    return scipy.special.jv(2, z)


def energy(z):
    return jnp.sum(jax.pure_callback(_bessel, jax.ShapeDtypeStruct(z.shape, z.dtype), z))


def main():
    hessian = jax.hessian(energy)(jnp.array([1.0, 2.0]))
    print(np.round(np.asarray(hessian, np.float64), 2) + 0.0)
