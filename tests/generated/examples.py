"""How many examples a test draws, and from which seed."""

import dataclasses
from collections.abc import Callable
from typing import Any

import hypothesis

Test = Callable[..., Any]


@dataclasses.dataclass(frozen=True)
class Settings:
    """`generated(count)` decorates a test that draws `count` examples, or as many as `--examples` says.

    Attributes:
      examples: how many to draw instead of what a test asks for.
      seed: where to start; the test itself decides if it is None.
    """

    examples: int | None
    seed: int | None

    def __call__(self, count: int) -> Callable[[Test], Test]:
        def decorate(test: Test) -> Test:
            chosen = hypothesis.settings(
                max_examples=self.examples or count,
                derandomize=self.seed is None,
                database=None,
                deadline=None,
                print_blob=False,
                suppress_health_check=list(hypothesis.HealthCheck),
            )
            return chosen(test) if self.seed is None else hypothesis.seed(self.seed)(chosen(test))

        return decorate

    @property
    def are_default(self) -> bool:
        """Whether the examples are those that every run draws, so that one may ask what is among them."""
        return self.examples is None and self.seed is None
