import jax
import jax.numpy as jnp
import numpy as np


def _softplus(x, flag):
    if flag:
        return np.maximum(x, 0.0)  # its limit
    # log(exp(0) + exp(x)), without overflow
    return np.logaddexp(x, 0.0)


def _mish(x):
    x = np.asarray(x)
    gate = np.tanh(np.log1p(np.exp(x)))
    return np.multiply(
        x,
        gate,  # between 0 and 1
    )


def softplus(x, sharp):
    spec = jax.ShapeDtypeStruct(x.shape, x.dtype)
    return jax.pure_callback(_softplus, spec, x, sharp, vmap_method="broadcast_all")


def mish(x):
    return jax.pure_callback(_mish, jax.ShapeDtypeStruct(x.shape, x.dtype), x, vmap_method="expand_dims")


def root(x):
    return jax.pure_callback(lambda y: np.sqrt(np.square(y)), jax.ShapeDtypeStruct(x.shape, x.dtype), x)


def main():
    x = jnp.linspace(-2.0, 2.0, 6).reshape(2, 3)
    print(softplus(x, False), softplus(x[0], True))
    print(jax.vmap(mish)(x), mish(x[0, 0]))
    print(root(x.astype(jnp.bfloat16)))
