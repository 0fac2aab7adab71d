import bufcb
import jax
import jax.numpy as jnp
import numpy as np


class Table:
    def look_up(self, x):
        return np.asarray(x) * np.float32(10)


def run(table, x):
    return bufcb.buffer_callback(
        bufcb.adapt(table.look_up, arrays="jax"), jax.ShapeDtypeStruct(x.shape, x.dtype)
    )(x)


def main():
    print(run(Table(), jnp.arange(2.0)).tolist())
