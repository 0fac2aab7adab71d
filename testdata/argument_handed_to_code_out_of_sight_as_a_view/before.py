import jax
import jax.numpy as jnp
import numpy as np


class Solver:
    def run(self, a, d):
        return np.asarray(a) * np.float32(2) + np.asarray(d)


SOLVERS = {"default": Solver()}
solver = SOLVERS["default"]


def _host(a, d):
    a = np.asarray(a)
    return solver.run(a, np.asarray(d))


def main():
    ones = jnp.ones(2)
    print(jax.pure_callback(_host, jax.ShapeDtypeStruct((2,), jnp.float32), ones, jnp.arange(2.0)).tolist())
