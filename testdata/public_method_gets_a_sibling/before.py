import jax
import jax.numpy as jnp
import numpy as np


class Surface:
    def __init__(self, slope):
        self.slope = np.float32(slope)

    def height(self, x):
        """Heights on the host."""
        return np.multiply(x, self.slope)

    def traced(self, x):
        return jax.pure_callback(self.height, jax.ShapeDtypeStruct(x.shape, x.dtype), x)


def main():
    surface = Surface(2)
    print(surface.traced(jnp.arange(3.0)).tolist(), surface.height(np.float32(4)).tolist())
