"""What the functions do that `--target jax` generates into a module."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import ml_dtypes
import numpy as np
import pytest

from codemods.rewrite.dialect import JaxDialect, Names


def to_numpy() -> Any:
    """The generated `_to_numpy`, for a tree that is one leaf."""
    (text,) = JaxDialect(str).helpers(Names("buffer_callback", "np"), "jax", store=False, to_numpy=True)
    tree = SimpleNamespace(map=lambda function, leaf: function(leaf))
    scope: dict[str, Any] = {"np": np, "jax": SimpleNamespace(tree=tree)}
    exec(text, scope)
    return scope["_to_numpy"]


@pytest.mark.parametrize("dtype", [np.float32, np.complex64, np.bool_, ml_dtypes.bfloat16, ml_dtypes.int4])
@pytest.mark.parametrize("shape", [(), (3,), (2, 3), (0, 3), (2, 0, 2)], ids=str)
def test_a_view_of_an_input_stays_read_only(shape, dtype):
    buffer = np.ones(shape, dtype)
    view = to_numpy()(buffer)
    assert (view.shape, view.dtype) == (buffer.shape, buffer.dtype)
    assert view.size == 0 or np.shares_memory(view, buffer)
    with pytest.raises(ValueError, match="cannot set WRITEABLE flag"):
        view.setflags(write=True)
    buffer[...] = 0
    np.testing.assert_array_equal(view, buffer)


def test_a_copy_of_an_input_is_ones_own():
    buffer = np.ones(3, np.float32)
    copy = to_numpy()(buffer, copy=True)
    copy[...] = 2
    np.testing.assert_array_equal(buffer, [1, 1, 1])
