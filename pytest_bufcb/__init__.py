"""The plugin of `bufcb` for pytest.

A package of its own, so that a test run which does not use it does not import JAX either.
"""

from __future__ import annotations

from collections.abc import Iterator

import pytest


@pytest.fixture
def bufcb_checked() -> Iterator[None]:
    """Check that the buffer callbacks of a test write every element of their outputs: `bufcb.checked`."""
    import bufcb

    with bufcb.checked():
        yield
