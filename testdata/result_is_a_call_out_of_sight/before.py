import jax
import jax.numpy as jnp
import numpy as np


class Model:
    def __init__(self, slope):
        self.slope = np.float32(slope)

    def run(self, x):
        return np.asarray(x) * self.slope


SOLVER = Model(3)


def _solve(x):
    return SOLVER.run(np.array(x))


def main():
    x = jnp.arange(3.0)
    print(jax.pure_callback(_solve, jax.ShapeDtypeStruct(x.shape, x.dtype), x).tolist())
