import numpy as np


class Model:
    def _host(self, x):
        return np.square(x)

    def __call__(self, x):
        from jax import ShapeDtypeStruct, pure_callback

        return pure_callback(self._host, ShapeDtypeStruct(x.shape, x.dtype), x)


def main():
    import jax.numpy as jnp

    print(Model()(jnp.arange(3.0)).tolist())
