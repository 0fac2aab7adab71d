import numpy as np


def _sine(x):
    return np.sin(x)


def call(x, twice):
    from jax import ShapeDtypeStruct

    if twice:
        import jax as j

        x = j.pure_callback(_sine, ShapeDtypeStruct(x.shape, x.dtype), x)
    import jax as j

    return j.pure_callback(_sine, ShapeDtypeStruct(x.shape, x.dtype), x)


def main():
    print(np.asarray(call(np.zeros(2, np.float32), twice=True)).tolist())
