import bufcb
import jax
import jax.numpy as jnp
import numpy as np


def g(x):
    if x.ndim > 1:
        # rows are independent,
        # so each is transformed alone
        return jax.vmap(g)(x)

    def _fftshift(ctx, out, a):
        a = np.asarray(a)
        out[...] = np.fft.fftshift(a)
        return

    # one row
    return bufcb.buffer_callback(
        _fftshift,
        jax.ShapeDtypeStruct(x.shape, x.dtype),
        vmap_method="broadcast_all",
    )(x)


def main():
    print(g(jnp.arange(4.0)).tolist())
