import jax
import numpy as np

import program


def double(x):
    spec = jax.ShapeDtypeStruct(x.shape, x.dtype)
    return program.pure_callback(lambda v: np.asarray(v) * np.float32(2), spec, x)
