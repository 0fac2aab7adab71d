import bufcb
import jax
import jax.numpy as jnp
import numpy as np

if hasattr(np, "trapezoid"):
    def _area(ctx, out, y):
        out[...] = np.trapezoid(np.asarray(y)).astype(np.float32)
        return


def main():
    print(float(bufcb.buffer_callback(_area, jax.ShapeDtypeStruct((), jnp.float32))(jnp.ones(3))))
