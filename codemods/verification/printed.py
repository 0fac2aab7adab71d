"""What two runs of a command print, compared line by line.

Times and addresses are taken for the same: they differ from run to run, and pytest prints how long it took.
So is the order of lines: XLA does not keep that of callbacks.
"""

from __future__ import annotations

import dataclasses
import itertools
import re
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Final

_LONGEST: Final = 10_000
_UNITS: Final = r"(?:[nuµm]s|s|secs?|seconds?|min|minutes?|h|hours?|(?:it|steps?|calls?)/s)"
_PASSING: Final = re.compile(
    rf"\b0x[0-9a-f]{{5,}}\b"
    rf"|\b\d+(?:\.\d+)?(?:e[-+]?\d+)?\s*{_UNITS}\b"
    rf"|\b\d\d?:\d\d(?::\d\d)?(?:[.,]\d+)?\b"
    rf"|\b\d{{4}}-\d\d-\d\d\b"
    # What pytest fills a line with that ends in a time.
    rf"|={{2,}}|-{{2,}}",
    re.IGNORECASE,
)


@dataclasses.dataclass(frozen=True, slots=True)
class Change:
    """A line that is another one in the second run.

    Attributes:
      line: its number, from 1.
      before, after: the line in either run; None where there is none any more.
    """

    line: int
    before: str | None
    after: str | None


def lasting(text: str) -> str:
    """The text without what differs from run to run."""
    return _PASSING.sub("…", text)


def first_change(before: Path, after: Path) -> Change | None:
    """The first line that differs between two files; None where they have the same lines."""
    for number, (left, right) in enumerate(itertools.zip_longest(_lines(before), _lines(after)), 1):
        if left != right and (left is None or right is None or lasting(left) != lasting(right)):
            return None if _counted(before) == _counted(after) else Change(number, left, right)
    return None


def _counted(path: Path) -> Counter[int]:
    return Counter(hash(lasting(line)) for line in _lines(path))


def last_change(before: str, after: str) -> Change | None:
    """The last lines of two texts, where they differ and neither is empty; numbered in the first one."""
    left, right = before.rstrip().splitlines(), after.rstrip().splitlines()
    if not left or not right or lasting(left[-1]) == lasting(right[-1]):
        return None
    return Change(len(left), left[-1], right[-1])


def _lines(path: Path) -> Iterator[str]:
    with open(path, "rb") as file:
        while line := file.readline(_LONGEST):
            yield line.decode(errors="replace").rstrip()
