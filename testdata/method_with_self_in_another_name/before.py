import jax
import jax.numpy as jnp
import numpy as np


class Bank:
    gains = np.array([1.0, 2.0], np.float32)

    def _apply(this, signal):
        return np.outer(this.gains, signal)

    def apply(this, signal):
        spec = jax.ShapeDtypeStruct((2, *signal.shape), signal.dtype)
        return jax.pure_callback(this._apply, spec, signal)


def main():
    print(Bank().apply(jnp.arange(2.0)).tolist())
