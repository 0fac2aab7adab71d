import bufcb
import jax
import jax.numpy as jnp
import numpy as np
import numpy


def _host(ctx, out, np_array, np):
    np_array, np = numpy.asarray(np_array), numpy.asarray(np)
    bufcb.store(out, (np_array.reshape(-1), np.ravel()))
    return


def main():
    x = jnp.ones((1, 2))
    flat = jax.ShapeDtypeStruct((2,), jnp.float32)
    print([r.tolist() for r in bufcb.buffer_callback(_host, (flat, flat))(x, x)], np.pi > 3)
