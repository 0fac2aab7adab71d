import jax
import jax.numpy as jnp
import numpy as np

if tuple(map(int, jax.__version__.split(".")[:2])) >= (0, 4):
    from jax import pure_callback as call_host
else:
    from jax.experimental import pure_callback as call_host


def _sine(x):
    return np.sin(x)


def main():
    x = jnp.zeros(2)
    print(call_host(_sine, jax.ShapeDtypeStruct(x.shape, x.dtype), x).tolist())
