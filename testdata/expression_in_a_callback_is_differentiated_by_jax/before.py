import jax
import jax.numpy as jnp
import numpy as np

STEEPNESS = 4.0


def _swish(x, shift):
    x, shift = np.asarray(x), np.asarray(shift)
    return (x - shift) / (1 + np.exp(-STEEPNESS * x))


def loss(x, shift):
    return jnp.sum(jax.pure_callback(_swish, jax.ShapeDtypeStruct(x.shape, x.dtype), x, shift))


step = jax.value_and_grad(loss, argnums=(0, 1))


def main():
    value, (x, shift) = step(jnp.array([0.0, 1.0]), 0.5)
    print(np.round(value, 4), np.round(x, 4), np.round(shift, 4))
