import jax
import jax.numpy as jnp
import numpy as np

if hasattr(np, "trapezoid"):
    def _area(y):
        return np.trapezoid(np.asarray(y)).astype(np.float32)


def main():
    print(float(jax.pure_callback(_area, jax.ShapeDtypeStruct((), jnp.float32), jnp.ones(3))))
