"""Settings for every test: JAX on the CPU, and no time limit on generated examples."""

import os

import hypothesis

os.environ.setdefault("JAX_PLATFORMS", "cpu")

hypothesis.settings.register_profile("default", deadline=None)
hypothesis.settings.load_profile("default")
