import jax
import jax.numpy as jnp
import numpy as np


def _energy(kinetic_energy, potential_energy, external_energy, thermal_energy):
    return np.add(np.add(kinetic_energy, potential_energy), np.add(external_energy, thermal_energy))


def main():
    e = jnp.ones(2)
    print(jax.pure_callback(_energy, jax.ShapeDtypeStruct((2,), jnp.float32), e, e, e, e).tolist())
