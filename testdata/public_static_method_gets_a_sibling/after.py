import bufcb
import jax
import jax.numpy as jnp
import numpy as np


class Units:
    @staticmethod
    def to_kelvin(celsius):
        return np.add(celsius, np.float32(273.15))

    @staticmethod
    def _to_kelvin_into(ctx, out, celsius):
        out[...] = Units.to_kelvin(np.asarray(celsius))
        return


def kelvin(celsius):
    spec = jax.ShapeDtypeStruct(celsius.shape, celsius.dtype)
    return bufcb.buffer_callback(Units._to_kelvin_into, spec)(celsius)


def main():
    print(kelvin(jnp.array([0.0, 20.0])).tolist())
