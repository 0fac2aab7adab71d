import bufcb
import jax
import jax.numpy as jnp
import numpy as np


def _logs(ctx, out, x):
    x = np.asarray(x)
    with np.errstate(all="ignore"):
        result = np.log(x), np.log2(x)
    bufcb.store(out, result)
    return


def main():
    spec = jax.ShapeDtypeStruct((2,), jnp.float32)
    print([r.tolist() for r in bufcb.buffer_callback(_logs, (spec, spec))(jnp.array([0.0, 1.0]))])
