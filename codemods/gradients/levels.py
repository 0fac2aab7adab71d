"""Levels of differentiation: which of the transforms around a value differentiate it."""

from __future__ import annotations

import dataclasses
import enum
from collections.abc import Iterable
from typing import Final


class Mode(enum.StrEnum):
    """How a transform differentiates.

    `TRANSPOSE` is what becomes of a tangent in reverse mode, and of the arguments of `linear_transpose`:
    the value stays linear until it is transposed, which custom rules have no say in.
    `TAYLOR` is what `jet` does, which looks through custom rules as well.
    `UNKNOWN` is code out of sight, which may differentiate or not.
    """

    REVERSE = "reverse"
    FORWARD = "forward"
    TRANSPOSE = "transpose"
    TAYLOR = "taylor"
    UNKNOWN = "unknown"


@dataclasses.dataclass(frozen=True, order=True, slots=True)
class Level:
    """One transform around a value; `depth` counts from the outermost one."""

    depth: int
    mode: Mode


Levels = frozenset[Level]

NOT_AT_ALL: Final[Levels] = frozenset()
UNSEEN: Final = Level(0, Mode.UNKNOWN)
BEYOND_RULES: Final = frozenset({Mode.TRANSPOSE, Mode.TAYLOR})


def by_rules(levels: Iterable[Level]) -> Levels:
    """The levels for which a custom rule stands in: all that evaluate a tangent."""
    return frozenset(level for level in levels if level.mode in (Mode.REVERSE, Mode.FORWARD))


def is_beyond_rules(level: Level) -> bool:
    """Whether custom rules have no say in a level."""
    return level.mode in BEYOND_RULES


def innermost(levels: Iterable[Level]) -> int:
    """The depth of the innermost transform; 0 for none."""
    return max((level.depth for level in levels), default=0)


def below(levels: Iterable[Level], depth: int) -> Levels:
    """The levels outside of the transform at `depth`."""
    return frozenset(level for level in levels if level.depth < depth)
