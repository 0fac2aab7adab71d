import jax
import jax.numpy as jnp
import numpy as np


def _host_exp(x):
    return np.exp(np.asarray(x))


@jax.custom_jvp
def host_exp(x):
    spec = jax.ShapeDtypeStruct(x.shape, x.dtype)
    return jax.pure_callback(_host_exp, spec, x, vmap_method="expand_dims")


@host_exp.defjvp
def _host_exp_jvp(primals, tangents):
    y = host_exp(*primals)
    return y, y * tangents[0]


def main():
    x = jnp.zeros(3)
    print(jax.grad(lambda v: host_exp(v).sum())(x).tolist())
    print(jax.vmap(jax.jit(host_exp))(x).tolist())
    print(jax.lax.scan(lambda c, v: (c + host_exp(v), c), jnp.float32(0), x)[0].tolist())
