import jax
import jax.numpy as jnp
import numpy as np


def _smooth(values):
    values = np.asarray(values)

    def weight(distance):
        if distance > 1:
            return 0.0
        return 1.0 - distance / 2

    class Window:
        def width(self):
            return len(values)

    kernel = np.array([weight(abs(d)) for d in range(-1, 2)], np.float32)
    assert Window().width() == values.shape[0]
    return np.convolve(values, kernel, mode="same")


def main():
    x = jnp.array([0.0, 1.0, 0.0, 2.0])
    print(jax.pure_callback(_smooth, jax.ShapeDtypeStruct(x.shape, x.dtype), x).tolist())
