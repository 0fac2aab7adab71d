import bufcb
import jax
import jax.numpy as jnp
import numpy as np

S = jax.ShapeDtypeStruct((), jnp.int32)


def _count(ctx, out, x):
    out[...] = np.int32(np.asarray(x).size)
    return


def main():
    x = jnp.zeros(3)
    print([bufcb.buffer_callback(_count, S)(x).item(), *bufcb.buffer_callback(_count, S)(x).reshape(1).tolist()])
    print({"n": bufcb.buffer_callback(_count, S)(x).item(), **{"m": int(bufcb.buffer_callback(_count, S)(x))}})
    print({int(bufcb.buffer_callback(_count, S)(x)), 3}, x[: int(bufcb.buffer_callback(_count, S)(x)) - 1].tolist())
    print(*bufcb.buffer_callback(
        _count, S
    )(x).reshape(1).tolist(), sum(bufcb.buffer_callback(
        _count, S
    )(y) for y in (x, x)))
