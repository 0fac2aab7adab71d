"""Settings for every test: JAX on the CPU, no time limit on examples, processes that can be interrupted."""

import os
import signal
from pathlib import Path

import hypothesis

os.environ.setdefault("JAX_PLATFORMS", "cpu")

# A shell starts what runs in the background with SIGINT ignored, and every process below inherits that.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)

hypothesis.settings.register_profile("default", deadline=None)
hypothesis.settings.load_profile("default")


def pytest_addoption(parser):
    group = parser.getgroup("generated", "generated programs")
    group.addoption("--examples", type=int, help="how many examples to generate for each test")
    group.addoption("--examples-seed", type=int, help="a seed; without one it is the same each time")
    group.addoption("--examples-from", type=Path, help="a folder of programs to change instead of testdata")
