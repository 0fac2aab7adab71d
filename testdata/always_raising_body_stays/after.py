import bufcb
import jax
import jax.numpy as jnp


def _never(ctx, out, x):
    raise NotImplementedError("host gradient of the solver")


def guarded(x):
    return jax.lax.cond(
        x.sum() > 0,
        lambda v: v * 2,
        lambda v: bufcb.buffer_callback(_never, jax.ShapeDtypeStruct(v.shape, v.dtype))(v),
        x,
    )


def main():
    print(guarded(jnp.arange(3.0)).tolist())
