import jax
import jax.numpy as jnp
import numpy as np


def _blend(x, *, weight, other):
    x, weight, other = np.asarray(x), np.asarray(weight), np.asarray(other)
    return np.rint(x) * weight + other * (1 - weight)


def blend(x, y):
    return jax.pure_callback(
        _blend, jax.ShapeDtypeStruct(x.shape, x.dtype), x, weight=jnp.float32(0.25), other=y * 2
    )


gradient = jax.grad(lambda x, y: jnp.sum(blend(x, y)), argnums=(0, 1))


def main():
    print(blend(jnp.ones(2), jnp.arange(2.0)))
