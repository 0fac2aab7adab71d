"""Fixtures of the runtime's tests."""

import os
import subprocess
import sys
import textwrap
from collections.abc import Callable

import pytest

Script = Callable[..., "subprocess.CompletedProcess[str]"]


@pytest.fixture
def script() -> Script:
    """Runs Python source in a process of its own; keyword arguments are environment variables."""

    def run(source: str, **environment: str) -> "subprocess.CompletedProcess[str]":
        return subprocess.run(
            [sys.executable, "-c", textwrap.dedent(source)],
            env={**os.environ, "JAX_PLATFORMS": "cpu", **environment},
            capture_output=True,
            text=True,
            timeout=120,
            check=False,
        )

    return run
