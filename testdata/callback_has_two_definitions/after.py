import bufcb
import jax
import jax.numpy as jnp
import numpy as np

try:
    import scipy.special

    def _gamma(ctx, out, x):
        out[...] = np.asarray(scipy.special.gamma(np.asarray(x)), np.float32)
        return
except ImportError:

    def _gamma(ctx, out, x):
        x = np.asarray(x)
        out[...] = np.ones_like(x)
        return


def main():
    print(bufcb.buffer_callback(_gamma, jax.ShapeDtypeStruct((1,), jnp.float32))(jnp.array([4.0])).tolist())
