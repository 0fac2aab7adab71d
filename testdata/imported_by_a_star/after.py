from jax import *
from jax.numpy import arange
import bufcb
import numpy as np


def _host(ctx, out, x):
    x = np.asarray(x)
    out[...] = np.square(x)
    return


def main():
    x = arange(3.0)
    print(bufcb.buffer_callback(_host, ShapeDtypeStruct(x.shape, x.dtype))(x).tolist())
