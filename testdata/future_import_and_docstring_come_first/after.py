#!/usr/bin/env python
# -*- coding: utf-8 -*-
"""A module with a docstring."""

from __future__ import annotations

import bufcb
import jax, jax.numpy as jnp  # noqa: E401
import numpy as np


def _host(ctx: bufcb.ExecutionContext, out: bufcb.Buffer, x: np.ndarray) -> None:
    x = np.asarray(x)
    out[...] = np.square(x)
    return


def main():
    x = jnp.arange(3.0)
    print(bufcb.buffer_callback(_host, jax.ShapeDtypeStruct(x.shape, x.dtype))(x).tolist())
