import bufcb
import jax
import jax.numpy as jnp
import numpy as np


class Bank:
    gains = np.array([1.0, 2.0], np.float32)

    def _apply(this, ctx, out, signal):
        signal = np.asarray(signal)
        out[...] = np.outer(this.gains, signal)
        return

    def apply(this, signal):
        spec = jax.ShapeDtypeStruct((2, *signal.shape), signal.dtype)
        return bufcb.buffer_callback(this._apply, spec)(signal)


def main():
    print(Bank().apply(jnp.arange(2.0)).tolist())
