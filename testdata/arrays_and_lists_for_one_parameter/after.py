import bufcb
import jax
import jax.numpy as jnp
import numpy as np


def _host(ctx, out, xs, ys):
    xs, ys = bufcb.to_numpy((xs, ys))
    out[...] = np.concatenate([np.add(x, y) for x, y in zip(xs, ys)])
    return


def _dict(ctx, out, d):
    d = bufcb.to_numpy(d)
    bufcb.store(out, {k: np.square(v) for k, v in d.items()})
    return


def main():
    x = jnp.arange(4.0).reshape(2, 2)
    s = jax.ShapeDtypeStruct((2, 2), jnp.float32)
    flat = jax.ShapeDtypeStruct((4,), jnp.float32)
    print(bufcb.buffer_callback(_host, flat)(x, x).tolist())
    print(bufcb.buffer_callback(_host, flat)([x[0, :1], jnp.ones(3)], (x[1, :1], jnp.ones(3))).tolist())
    print(bufcb.buffer_callback(_dict, {"a": s})({"a": x})["a"].tolist())
