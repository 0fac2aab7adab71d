import bufcb
import jax
import jax.numpy as jnp
import numpy as np

S = jax.ShapeDtypeStruct((), jnp.float32)


def _total(ctx, out, x):
    out[...] = np.float32(np.asarray(x).sum())
    return


def check(x):
    assert bufcb.buffer_callback(_total, S)(x) >= 0, bufcb.buffer_callback(_total, S)(x)
    try:
        raise ValueError(float(bufcb.buffer_callback(_total, S)(x)))
    except (ValueError if bufcb.buffer_callback(_total, S)(x) < 9 else KeyError) as error:
        return error.args


def main():
    print(check(jnp.ones(2)))
