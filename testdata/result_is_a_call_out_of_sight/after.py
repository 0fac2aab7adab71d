import bufcb
import jax
import jax.numpy as jnp
import numpy as np


class Model:
    def __init__(self, slope):
        self.slope = np.float32(slope)

    def run(self, x):
        return np.asarray(x) * self.slope


SOLVER = Model(3)


def _solve(ctx, out, x):
    bufcb.store(out, SOLVER.run(np.array(x)))
    return


def main():
    x = jnp.arange(3.0)
    print(bufcb.buffer_callback(_solve, jax.ShapeDtypeStruct(x.shape, x.dtype))(x).tolist())
