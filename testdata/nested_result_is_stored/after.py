import bufcb
import jax
import jax.numpy as jnp
import numpy as np


def _qr(ctx, out, a):
    a = np.asarray(a)
    q, r = np.linalg.qr(a)
    bufcb.store(out, {"factors": (q, r), "shape": np.array(a.shape, np.int32)})
    return


def qr(a):
    square = jax.ShapeDtypeStruct(a.shape, a.dtype)
    spec = {"factors": (square, square), "shape": jax.ShapeDtypeStruct((2,), jnp.int32)}
    return bufcb.buffer_callback(_qr, spec)(a)


def main():
    found = qr(jnp.array([[2.0, 0.0], [0.0, 3.0]]))
    print([np.abs(f).tolist() for f in found["factors"]], found["shape"].tolist())
