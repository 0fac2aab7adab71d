import bufcb
import jax
import jax.numpy as jnp
import numpy as np


def _both(ctx, out, x):
    x = np.asarray(x)
    out[0][...] = np.sin(x)
    out[1][...] = np.cos(x)
    return  # one leaf each


def both(x):
    spec = jax.ShapeDtypeStruct(x.shape, x.dtype)
    return bufcb.buffer_callback(_both, (spec, spec))(x)


def main():
    sine, cosine = both(jnp.linspace(0.0, 1.0, 3))
    print(np.round(sine, 5).tolist(), np.round(cosine, 5).tolist())
