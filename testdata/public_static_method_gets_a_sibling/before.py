import jax
import jax.numpy as jnp
import numpy as np


class Units:
    @staticmethod
    def to_kelvin(celsius):
        return np.add(celsius, np.float32(273.15))


def kelvin(celsius):
    spec = jax.ShapeDtypeStruct(celsius.shape, celsius.dtype)
    return jax.pure_callback(Units.to_kelvin, spec, celsius)


def main():
    print(kelvin(jnp.array([0.0, 20.0])).tolist())
