import jax
import jax.numpy as jnp
import numpy as np

TABLE = {"up": lambda v: np.ceil(v), "down": lambda v: np.floor(v)}


def make(scale):
    def scaled(v):
        return np.asarray(v) * np.float32(scale)

    return scaled


def run(x, up):
    spec = jax.ShapeDtypeStruct(x.shape, x.dtype)
    a = jax.pure_callback(TABLE["up"] if up else TABLE["down"], spec, x)
    b = jax.pure_callback(TABLE["up"], spec, x)
    c = jax.pure_callback(make(2), spec, x)
    return a, b, c


def main():
    print([r.tolist() for r in run(jnp.array([0.5, 1.5]), False)])
