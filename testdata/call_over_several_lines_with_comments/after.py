import bufcb
import jax
import jax.numpy as jnp
import numpy as np


def host(ctx, out, x):
    out[...] = np.asarray(x) * np.float32(2)
    return


def run(x):
    return bufcb.buffer_callback(
        host,  # runs on the CPU
        jax.ShapeDtypeStruct(
            x.shape, x.dtype),
        vmap_method="broadcast_all",
    )(
        x,  # data
    )  # done


def main():
    print(run(jnp.arange(2.0)).tolist())
