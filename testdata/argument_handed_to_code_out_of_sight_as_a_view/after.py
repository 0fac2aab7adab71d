import bufcb
import jax
import jax.numpy as jnp
import numpy as np


class Solver:
    def run(self, a, d):
        return np.asarray(a) * np.float32(2) + np.asarray(d)


SOLVERS = {"default": Solver()}
solver = SOLVERS["default"]


def _host(ctx, out, a, d):
    a = np.asarray(a)
    bufcb.store(out, solver.run(a, np.asarray(d)))
    return


def main():
    ones = jnp.ones(2)
    print(bufcb.buffer_callback(_host, jax.ShapeDtypeStruct((2,), jnp.float32))(ones, jnp.arange(2.0)).tolist())
