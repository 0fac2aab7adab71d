import bufcb
import jax
import jax.numpy as jnp
import numpy as np


class A:
    @property
    def _host(self):
        return lambda x: np.asarray(x) * np.float32(2)

    def run(self, x):
        return bufcb.buffer_callback(
            bufcb.adapt(self._host, arrays="jax"), jax.ShapeDtypeStruct(x.shape, x.dtype)
        )(x)


def main():
    print(A().run(jnp.arange(3.0)).tolist())
