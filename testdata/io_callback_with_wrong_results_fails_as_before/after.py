import logging
import re

import bufcb
import jax
import jax.numpy as jnp
import numpy as np


def _number(ctx, out, x):
    out[...] = 2
    return


def _two(ctx, out, x):
    out[...] = np.zeros(2, np.float32)
    return


def _nothing(ctx, out, x):
    print("called")
    bufcb.store(out, None)
    return


def calls(x):
    spec = jax.ShapeDtypeStruct((), jnp.float32)
    yield lambda: bufcb.buffer_callback(_number, spec, has_side_effect=True, vmap_method="sequential")(x)
    yield lambda: bufcb.buffer_callback(_two, spec, has_side_effect=True, vmap_method="sequential")(x)
    yield lambda: bufcb.buffer_callback(_nothing, spec, has_side_effect=True, vmap_method="sequential")(x)


def main():
    logging.disable(logging.CRITICAL)
    for call in calls(1.0):
        try:
            print(call())
        except jax.errors.JaxRuntimeError as error:
            print(re.search(r"(Incorrect|Mismatched) .*", str(error)).group())
    logging.disable(logging.NOTSET)
