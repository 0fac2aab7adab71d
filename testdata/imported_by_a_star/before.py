from jax import *
from jax.numpy import arange
import numpy as np


def _host(x):
    return np.square(x)


def main():
    x = arange(3.0)
    print(pure_callback(_host, ShapeDtypeStruct(x.shape, x.dtype), x).tolist())
