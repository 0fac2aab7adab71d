import jax
import jax.numpy as jnp
import numpy as np


class Table:
    def look_up(self, x):
        return np.asarray(x) * np.float32(10)


def run(table, x):
    return jax.pure_callback(table.look_up, jax.ShapeDtypeStruct(x.shape, x.dtype), x)


def main():
    print(run(Table(), jnp.arange(2.0)).tolist())
