"""Settings for every test: JAX on the CPU, no time limit on examples, processes that can be interrupted."""

import gc
import os
import signal
import sys
from collections.abc import Iterator
from pathlib import Path

import hypothesis
import pytest

os.environ.setdefault("JAX_PLATFORMS", "cpu")

# A shell starts what runs in the background with SIGINT ignored, and every process below inherits that.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)

hypothesis.settings.register_profile("default", deadline=None)
hypothesis.settings.load_profile("default")


@pytest.fixture(autouse=True, scope="module")
def _little_to_collect() -> Iterator[None]:
    """Keeps a collection of all garbage short, which each error about a kept buffer waits for.

    Else it would go through what pytest and JAX hold from thousands of tests, for seconds.
    """
    gc.collect()
    gc.freeze()
    yield
    if "jax" in sys.modules:
        sys.modules["jax"].clear_caches()


def pytest_addoption(parser):
    group = parser.getgroup("generated", "generated programs")
    group.addoption("--examples", type=int, help="how many examples to generate for each test")
    group.addoption("--examples-seed", type=int, help="a seed; without one it is the same each time")
    group.addoption("--examples-from", type=Path, help="a folder of programs to change instead of testdata")
