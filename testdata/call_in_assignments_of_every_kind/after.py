import bufcb
import jax
import jax.numpy as jnp
import numpy as np

S = jax.ShapeDtypeStruct((2,), jnp.float32)


class Box:
    pass


def _sine(ctx, out, x):
    x = np.asarray(x)
    out[...] = np.sin(x)
    return


def main():
    x, box, table = jnp.zeros(2), Box(), {0: 1, 1: 2}
    y: jax.Array = bufcb.buffer_callback(_sine, S)(x)

    def _cos(ctx, out, v):
        v = np.asarray(v)
        out[...] = np.cos(v)
        return

    y += bufcb.buffer_callback(_cos, S)(x)
    box.y = first = bufcb.buffer_callback(_sine, S)(x)
    a, *rest = bufcb.buffer_callback(_sine, S)(x)
    table[int(bufcb.buffer_callback(_sine, S)(x)[0])] += 5

    def _main_host(ctx, out, v):
        v = np.asarray(v)
        out[...] = np.cos(v)
        return

    del table[int(bufcb.buffer_callback(_main_host, S)(x)[0])]
    print(y.tolist(), first.tolist(), float(a), len(rest), table)
