import bufcb
import jax
import jax.numpy as jnp
import numpy as np


class Solver:
    def __init__(self):
        self.history = []

    def push(self, value):
        self.history.append(value)

    def run(self, a, d):
        return np.asarray(a) * np.float32(2) + np.asarray(d)


SOLVERS = {"default": Solver()}
solver = SOLVERS["default"]


def _host(a, b, c, d, scale=2.0):
    a = np.asarray(a)
    solver.push(c)
    return solver.run(a, d) * np.float32(scale)


def host(a, b, c, d):
    return bufcb.buffer_callback(
        bufcb.adapt(_host, arrays="jax"), jax.ShapeDtypeStruct(a.shape, a.dtype)
    )(a, b, c, d)


def main():
    ones = jnp.ones(2)
    print(host(ones, ones, ones, jnp.arange(2.0)).tolist(), len(solver.history))
