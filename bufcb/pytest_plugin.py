"""The plugin of `bufcb` for pytest: `pytest_plugins = ["bufcb.pytest_plugin"]` in a `conftest.py` loads it.

No entry point does, since every test run of an environment would import JAX then.
"""

from __future__ import annotations

from collections.abc import Iterator

import pytest

import bufcb


@pytest.fixture
def bufcb_checked() -> Iterator[None]:
    """Check that the buffer callbacks of a test write every element of their outputs: `bufcb.checked`."""
    with bufcb.checked():
        yield
