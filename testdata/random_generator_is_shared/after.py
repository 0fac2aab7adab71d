import bufcb
import jax
import jax.numpy as jnp
import numpy as np

RNG = np.random.default_rng(7)


def _noisy(ctx, out, x):
    x = np.asarray(x)
    out[...] = np.add(x, RNG.standard_normal(x.shape).astype(np.float32))
    return


def main():
    x = jnp.zeros(2)
    print(bufcb.buffer_callback(_noisy, jax.ShapeDtypeStruct(x.shape, x.dtype))(x).tolist())
