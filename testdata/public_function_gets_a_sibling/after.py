import bufcb
import jax
import jax.numpy as jnp
import numpy as np
import scipy.special


def jv(v, z):
    return scipy.special.jv(v, z)


def _jv_into(ctx, out, v, z):
    out[...] = jv(np.asarray(v), np.asarray(z))
    return


def main():
    assert jv(1.0, 0.0) == 0
    z = jnp.array([1.0])
    y = bufcb.buffer_callback(_jv_into, jax.ShapeDtypeStruct(z.shape, z.dtype))(jnp.zeros(1), z)
    print([round(v, 5) for v in y.tolist()])
