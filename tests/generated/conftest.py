"""The options `--examples` and `--examples-seed`, declared in `tests/conftest.py`."""

import pytest
from examples import Settings


@pytest.fixture
def generated(request: pytest.FixtureRequest) -> Settings:
    option = request.config.getoption
    return Settings(option("--examples"), option("--examples-seed"))
