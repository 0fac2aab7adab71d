"""Lines of text side by side: which stand beside each other, and where they differ."""

from __future__ import annotations

import bisect
import dataclasses
import itertools
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from difflib import SequenceMatcher
from typing import Final

Span = tuple[int, int]

# What is compared with what: words, stretches of white space, and each other character.
_PIECE: Final = re.compile(r"\w+|\s+|[^\w\s]")
_WORD: Final = re.compile(r"\w+|[^\w\s]")
# Lines less alike than this stand beside each other by their order alone.
_ALIKE: Final = 0.4
# In lines beside each other that have less than this in common, no difference is marked.
_ALIKE_IN_PART: Final = 0.25
# More pairs of lines in a block, or pieces in a line, than this are not compared: time grows with the square.
_MOST_PAIRS: Final = 20_000
_MOST_PIECES: Final = 400


@dataclasses.dataclass(frozen=True, slots=True)
class Row:
    """Two lines side by side, by their indices; None where there is no line on that side."""

    old: int | None
    new: int | None
    changed: bool


def side_by_side(old: Sequence[str], new: Sequence[str]) -> list[Row]:
    """The rows that show every line of both texts once, in order."""
    rows: list[Row] = []
    for left, right, same in _blocks(old, new):
        if same:
            rows += [Row(i, j, False) for i, j in zip(left, right, strict=True)]
        else:
            rows += _beside(old, new, left, right)
    return rows


def differences(old: str, new: str) -> tuple[list[Span], list[Span]]:
    """The spans of two lines in which they differ; none where little is alike."""
    left, right = _PIECE.findall(old), _PIECE.findall(new)
    if max(len(left), len(right)) > _MOST_PIECES:
        return _middle(old, new)
    ends = [list(itertools.accumulate(map(len, pieces), initial=0)) for pieces in (left, right)]
    spans: tuple[list[Span], list[Span]] = ([], [])
    alike = 0
    for operation, i1, i2, j1, j2 in SequenceMatcher(None, left, right, autojunk=False).get_opcodes():
        if operation == "equal":
            alike += sum(len(piece) for piece in left[i1:i2] if not piece.isspace())
            continue
        for side, start, end in ((0, i1, i2), (1, j1, j2)):
            if start < end:
                spans[side].append((ends[side][start], ends[side][end]))
    shorter = min(sum(map(len, _WORD.findall(line))) for line in (old, new))
    if alike < _ALIKE_IN_PART * shorter:
        return [], []
    return _joined(spans[0], old), _joined(spans[1], new)


def _middle(old: str, new: str) -> tuple[list[Span], list[Span]]:
    """The one span of each line that begins and ends with a difference; no more is told of long lines."""
    start = _common(old, new)
    tail = _common(old[start:][::-1], new[start:][::-1])
    return (
        [(start, len(old) - tail)] if start < len(old) - tail else [],
        [(start, len(new) - tail)] if start < len(new) - tail else [],
    )


def _common(old: str, new: str) -> int:
    """How many characters at the start are the same."""
    unlike = (index for index, pair in enumerate(zip(old, new, strict=False)) if pair[0] != pair[1])
    return next(unlike, min(len(old), len(new)))


def _blocks(old: Sequence[str], new: Sequence[str]) -> Iterator[tuple[range, range, bool]]:
    """Splits both texts into blocks that are the same or not.

    The lines that occur once in each text hold them together, so that only what is between two of them
    needs to be searched: time grows with the length of the texts.
    """
    i = j = 0
    for next_i, next_j in [*_anchors(old, new), (len(old), len(new))]:
        gap = SequenceMatcher(None, _slice(old, range(i, next_i)), _slice(new, range(j, next_j)))
        for operation, i1, i2, j1, j2 in gap.get_opcodes():
            yield range(i + i1, i + i2), range(j + j1, j + j2), operation == "equal"
        if next_i < len(old):
            yield range(next_i, next_i + 1), range(next_j, next_j + 1), True
        i, j = next_i + 1, next_j + 1


def _anchors(old: Sequence[str], new: Sequence[str]) -> list[tuple[int, int]]:
    """The longest series of lines, ascending in both texts, that occur once in each."""
    old_counts, new_counts = Counter(old), Counter(new)
    places = {line: j for j, line in enumerate(new) if new_counts[line] == 1}
    pairs = [(i, places[line]) for i, line in enumerate(old) if line in places and old_counts[line] == 1]
    # The longest ascending series of `j`: of each length, the one so far that ends with the least.
    ends: list[int] = []
    last: list[int] = []
    before: list[int | None] = []
    for index, (_, j) in enumerate(pairs):
        length = bisect.bisect_left(ends, j)
        before.append(last[length - 1] if length else None)
        ends[length : length + 1] = [j]
        last[length : length + 1] = [index]
    series = []
    at = last[-1] if last else None
    while at is not None:
        series.append(pairs[at])
        at = before[at]
    return series[::-1]


def _beside(old: Sequence[str], new: Sequence[str], left: range, right: range) -> Iterator[Row]:
    """Puts the lines of a changed block beside each other: those alike in one row, the others by order."""
    i, j = left.start, right.start
    for next_i, next_j in [*_matches(old, new, left, right), (left.stop, right.stop)]:
        yield from (Row(*pair, True) for pair in itertools.zip_longest(range(i, next_i), range(j, next_j)))
        if next_i < left.stop:
            yield Row(next_i, next_j, old[next_i] != new[next_j])
        i, j = next_i + 1, next_j + 1


def _matches(old: Sequence[str], new: Sequence[str], left: range, right: range) -> list[tuple[int, int]]:
    """The pairs of lines, in order on both sides, that are most alike in sum."""
    if not left or not right or len(left) * len(right) > _MOST_PAIRS:
        return []
    words = {line: frozenset(_WORD.findall(line)) for line in (*_slice(old, left), *_slice(new, right))}
    # best[i][j] is the greatest sum for the lines from i and j on.
    best = [[0.0] * (len(right) + 1) for _ in range(len(left) + 1)]
    scores = [[_likeness(words[old[i]], words[new[j]]) for j in right] for i in left]
    for i in range(len(left) - 1, -1, -1):
        for j in range(len(right) - 1, -1, -1):
            paired = best[i + 1][j + 1] + scores[i][j] if scores[i][j] >= _ALIKE else 0.0
            best[i][j] = max(best[i + 1][j], best[i][j + 1], paired)
    pairs = []
    i = j = 0
    while i < len(left) and j < len(right):
        if scores[i][j] >= _ALIKE and best[i][j] == best[i + 1][j + 1] + scores[i][j]:
            pairs.append((left[i], right[j]))
            i, j = i + 1, j + 1
        elif best[i][j] == best[i + 1][j]:
            i += 1
        else:
            j += 1
    return pairs


def _slice(lines: Sequence[str], part: range) -> Sequence[str]:
    return lines[part.start : part.stop]


def _likeness(old: frozenset[str], new: frozenset[str]) -> float:
    """The share of words that two lines have in common, from 0 to 1."""
    total = len(old) + len(new)
    return 2 * len(old & new) / total if total else _ALIKE


def _joined(spans: list[Span], line: str) -> list[Span]:
    """The spans with those joined that only white space or one sign lies between."""
    joined: list[Span] = []
    for start, end in spans:
        between = line[joined[-1][1] : start] if joined else ""
        if joined and (between.isspace() or (len(between) <= 1 and not between.isalnum())):
            joined[-1] = (joined[-1][0], end)
        else:
            joined.append((start, end))
    return joined
