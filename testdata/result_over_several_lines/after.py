import bufcb
import jax
import jax.numpy as jnp
import numpy as np


def _window(ctx: bufcb.ExecutionContext, out: bufcb.Buffer, v: np.ndarray) -> None:
    # taper the ends
    out[...] = (  # a product
        np.asarray(v)  # the input
        * np.float32(0.5)  # halved
    )
    return  # done


def _chain(ctx, out, v):
    out[...] = np.where(
        np.asarray(v) > 1,
        np.float32(1),  # the ceiling
        np.asarray(v),
    )
    return


def main():
    v = jnp.array([2.0, 0.5])
    spec = jax.ShapeDtypeStruct(v.shape, v.dtype)
    print(bufcb.buffer_callback(_window, spec)(v).tolist())
    print(bufcb.buffer_callback(_chain, spec)(v).tolist())
