import bufcb
import jax
import jax.numpy as jnp
import numpy as np


def _standardize(ctx, out, x):
    """Moves each row to mean 0 and variance 1."""
    x = np.asarray(x)
    x = x - x.mean(axis=-1, keepdims=True)
    deviation = np.sqrt(np.mean(x**2, axis=-1, keepdims=True))
    out[...] = x / deviation
    return


@jax.custom_vjp
def _standardize_call(z):
    z = jnp.asarray(z)
    return bufcb.buffer_callback(_standardize, jax.ShapeDtypeStruct(z.shape, z.dtype))(z)


def _standardize_fwd(z):
    return _standardize_call(z), (z,)


def _standardize_bwd(residuals, cotangent):
    (z,) = residuals

    def in_jax(z):
        x = z - z.mean(axis=-1, keepdims=True)
        deviation = jnp.sqrt(jnp.mean(x ** 2, axis=-1, keepdims=True))
        return x / deviation

    _, pullback = jax.vjp(in_jax, z)
    return pullback(cotangent)


_standardize_call.defvjp(_standardize_fwd, _standardize_bwd)


def standardized(z):
    return _standardize_call(z)


def main():
    z = jnp.array([[1.0, 2.0, 4.0]])
    gradient = jax.grad(lambda z: jnp.sum(standardized(z) ** 3))(z)
    print(np.round(gradient, 4))
