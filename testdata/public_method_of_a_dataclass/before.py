import dataclasses

import jax
import jax.numpy as jnp
import numpy as np


@dataclasses.dataclass(frozen=True, slots=True)
class A:
    k: float

    def host(self, x):
        return np.multiply(x, np.float32(self.k))

    def run(self, x):
        return jax.pure_callback(self.host, jax.ShapeDtypeStruct(x.shape, x.dtype), x)


def main():
    print(A(2.0).run(jnp.arange(3.0)).tolist())
