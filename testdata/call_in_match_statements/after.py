import bufcb
import jax
import jax.numpy as jnp
import numpy as np

S = jax.ShapeDtypeStruct((), jnp.int32)


def _count(ctx, out, x):
    out[...] = np.int32(np.asarray(x).size)
    return


def describe(x):
    def _describe_host(ctx, out):
        out[...] = np.int32(3)
        return

    match int(bufcb.buffer_callback(_count, S)(x)):
        case 0:
            return "none"
        case n if n < bufcb.buffer_callback(_describe_host, S)():
            return "few"
        case n: return f"{bufcb.buffer_callback(_count, S)(x)} of them"


def main():
    print(describe(jnp.zeros(0)), describe(jnp.zeros(2)), describe(jnp.zeros(4)))
