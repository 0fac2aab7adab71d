import bufcb
import jax
import jax.numpy as jnp
import numpy as np


class Filter:
    def __init__(self, kernel):
        self.kernel = np.asarray(kernel)

    def _host(self, ctx, out, x):
        out[...] = np.convolve(np.asarray(x), self.kernel, mode="same").astype(np.float32)
        return

    def __call__(self, x):
        @jax.custom_vjp
        def _host_call(x):
            x = jnp.asarray(x)
            return bufcb.buffer_callback(self._host, jax.ShapeDtypeStruct(x.shape, x.dtype))(x)

        def _host_fwd(x):
            return _host_call(x), (x,)

        def _host_bwd(residuals, cotangent):
            (x,) = residuals
            raise NotImplementedError(
                "_host_bwd: fill in the cotangent of x, then delete this line. "
                "Gradients reach it from jax.grad (program.py:38)."
            )
            return (jnp.zeros_like(x),)

        _host_call.defvjp(_host_fwd, _host_bwd)

        return _host_call(x)


smooth = Filter([0.25, 0.5, 0.25])
gradient = jax.grad(lambda x: jnp.sum(smooth(x) ** 2))


def main():
    print(smooth(jnp.arange(3.0)))
