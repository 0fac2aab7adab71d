import jax
import jax.numpy as jnp
import numpy as np


def _qr(a):
    q, r = np.linalg.qr(a)
    return {"factors": (q, r), "shape": np.array(a.shape, np.int32)}


def qr(a):
    square = jax.ShapeDtypeStruct(a.shape, a.dtype)
    spec = {"factors": (square, square), "shape": jax.ShapeDtypeStruct((2,), jnp.int32)}
    return jax.pure_callback(_qr, spec, a)


def main():
    found = qr(jnp.array([[2.0, 0.0], [0.0, 3.0]]))
    print([np.abs(f).tolist() for f in found["factors"]], found["shape"].tolist())
