import numpy as np


class Model:
    def _host(self, ctx, out, x):
        x = np.asarray(x)
        out[...] = np.square(x)
        return

    def __call__(self, x):
        import bufcb
        from jax import ShapeDtypeStruct

        return bufcb.buffer_callback(self._host, ShapeDtypeStruct(x.shape, x.dtype))(x)


def main():
    import jax.numpy as jnp

    print(Model()(jnp.arange(3.0)).tolist())
