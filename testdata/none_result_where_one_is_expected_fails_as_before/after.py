import bufcb
import jax
import jax.numpy as jnp


def _forgets(ctx, out, x):
    float(x)
    bufcb.store(out, None)
    return


def main():
    try:
        print(bufcb.buffer_callback(_forgets, jax.ShapeDtypeStruct((), jnp.float32))(jnp.float32(1)))
    except Exception as error:
        print("Mismatched number of outputs from callback" in str(error))
