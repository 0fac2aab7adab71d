import jax
import jax.numpy as jnp
import numpy as np


def _like(*arrays):
    """What broadcasting the arrays gives."""
    arrays = [jnp.asarray(array) for array in arrays]
    return jax.ShapeDtypeStruct(jnp.broadcast_shapes(*(a.shape for a in arrays)), jnp.result_type(*arrays))


def _ratio(numerator, denominator):
    if np.any(np.asarray(denominator) == 0):
        raise ZeroDivisionError
    return np.true_divide(numerator, denominator)


def ratio(numerator, denominator):
    return jax.pure_callback(_ratio, _like(numerator, denominator), numerator, denominator, vmap_method="sequential")


def weighted(function, values, weights):
    return jax.pure_callback(function, jax.ShapeDtypeStruct(values.shape, values.dtype), values, weights)


def main():
    x = jnp.arange(4.0)
    print(ratio(x, jnp.float32(2)), weighted(np.multiply, x, x))
