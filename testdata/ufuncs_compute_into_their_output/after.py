import bufcb
import jax
import jax.numpy as jnp
import numpy as np


def _softplus(ctx, out, x, flag):
    flag = bufcb.to_numpy(flag)
    x = np.asarray(x)
    if flag:
        np.maximum(x, 0.0, out=np.asarray(out), casting="no")
        return  # its limit
    # log(exp(0) + exp(x)), without overflow
    np.logaddexp(x, 0.0, out=np.asarray(out), casting="no")
    return


def _mish(ctx, out, x):
    x = np.asarray(x)
    gate = np.tanh(np.log1p(np.exp(x)))
    np.multiply(
        x,
        gate,  # between 0 and 1
        out=np.asarray(out),
        casting="no",
    )
    return


def softplus(x, sharp):
    spec = jax.ShapeDtypeStruct(x.shape, x.dtype)
    return bufcb.buffer_callback(_softplus, spec, vmap_method="broadcast_all")(x, sharp)


def mish(x):
    return bufcb.buffer_callback(_mish, jax.ShapeDtypeStruct(x.shape, x.dtype), vmap_method="expand_dims")(x)


def root(x):
    def _sqrt(ctx, out, y):
        y = np.asarray(y)
        np.sqrt(np.square(y), out=np.asarray(out), casting="no")
        return

    return bufcb.buffer_callback(_sqrt, jax.ShapeDtypeStruct(x.shape, x.dtype))(x)


def main():
    x = jnp.linspace(-2.0, 2.0, 6).reshape(2, 3)
    print(softplus(x, False), softplus(x[0], True))
    print(jax.vmap(mish)(x), mish(x[0, 0]))
    print(root(x.astype(jnp.bfloat16)))
