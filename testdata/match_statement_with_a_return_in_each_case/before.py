import jax
import jax.numpy as jnp
import numpy as np

SHAPE = (3,)


def run(x, mode):
    def window(values):
        values = np.asarray(values)
        match mode:
            case "hann":
                return values * np.hanning(3).astype(np.float32)
            case "box" | "flat":
                return np.array(values)
            case _:
                # an unknown window is no window
                return np.zeros_like(values)

    return jax.pure_callback(window, jax.ShapeDtypeStruct(SHAPE, jnp.float32), x)


def main():
    x = jnp.array([1.0, 2.0, 3.0])
    for mode in ("hann", "box", "none"):
        print(mode, run(x, mode).tolist())
