import bufcb
import jax
import jax.numpy as jnp
import numpy as np


def loss(x):
    def _partition(ctx, out, a):
        a = np.asarray(a)
        out[...] = np.partition(a, 1)
        return

    @jax.custom_vjp
    def _partition_call(x):
        x = jnp.asarray(x)
        return bufcb.buffer_callback(_partition, jax.ShapeDtypeStruct(x.shape, x.dtype))(x)

    def _partition_fwd(x):
        return _partition_call(x), (x,)

    def _partition_bwd(residuals, cotangent):
        (x,) = residuals
        raise NotImplementedError(
            "_partition_bwd: fill in the cotangent of x, then delete this line. "
            "Gradients reach it from jax.grad (program.py:35)."
        )
        return (jnp.zeros_like(x),)

    _partition_call.defvjp(_partition_fwd, _partition_bwd)

    y = _partition_call(x)
    return jnp.sum(y * jnp.arange(3.0))


gradient = jax.grad(loss)


def main():
    print(loss(jnp.array([2.0, 0.5, 1.0])))
