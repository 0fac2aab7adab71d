"""What of a file is shown, in which order: rows of lines, folded stretches, the remarks between them."""

from __future__ import annotations

import dataclasses
import itertools
import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Final

from codemods.discovery import NOTEBOOK
from codemods.model import Diagnostic, FileResult, Gradient, Hop, Note, SiteResult
from codemods.report.html import colour, lines
from codemods.report.html.lines import Row

# Rows that are seen around a change, and around a remark.
CONTEXT: Final = 3
# A call that spans more lines is folded in its middle, where it does not change.
LONGEST_CALL: Final = 12
# A shorter unchanged stretch is not worth a fold.
SHORTEST_FOLD: Final = 4

_NEWLINE: Final = re.compile(r"\r\n|\r|\n")


@dataclasses.dataclass(frozen=True, slots=True)
class Text:
    """One side of a comparison.

    Attributes:
      lines: the lines without their endings.
      endings: how each line ends; empty for a last line that does not.
      tokens: the coloured tokens of each line, with offsets in the line.
    """

    lines: tuple[str, ...]
    endings: tuple[str, ...]
    tokens: tuple[tuple[colour.Token, ...], ...]

    @classmethod
    def of(cls, text: str) -> Text:
        ends = [match.span() for match in _NEWLINE.finditer(text)]
        if not ends or ends[-1][1] < len(text):
            ends.append((len(text), len(text)))
        starts = [0, *(end for _, end in ends[:-1])]
        shown = tuple(text[start:end] for start, (end, _) in zip(starts, ends, strict=True))
        return cls(shown, tuple(text[start:end] for start, end in ends), tuple(_by_line(text, starts, shown)))

    def whole(self) -> list[str]:
        """The lines with their endings."""
        return [line + ending for line, ending in zip(self.lines, self.endings, strict=True)]


@dataclasses.dataclass(frozen=True, slots=True)
class Remark:
    """What is said about one place: a call site or a note.

    Attributes:
      kind: the call site's status, or `note`.
      line, column, end_line: the place in the original file.
      callback: the callback of a call site; None for a note.
      cell: the 1-based number of the notebook's cell that the lines are counted in.
      hops: for a note, the way on which differentiation reaches the call.
    """

    kind: str
    line: int
    column: int
    end_line: int
    diagnostic: Diagnostic | None
    callback: str | None = None
    gradient: Gradient = Gradient.UNKNOWN
    cell: int | None = None
    hops: tuple[Hop, ...] = ()

    @classmethod
    def of(cls, source: SiteResult | Note) -> Remark:
        if isinstance(source, Note):
            place = source.line, source.column, source.line
            return cls("note", *place, source.diagnostic, cell=source.cell, hops=source.hops)
        return cls(
            source.status.value,
            source.line,
            source.column,
            source.end_line,
            source.diagnostic,
            source.callback,
            source.gradient,
            source.cell,
        )


@dataclasses.dataclass(frozen=True, slots=True)
class Part:
    """Consecutive rows of a file, seen or folded, with the remarks that stand above them."""

    rows: tuple[Row, ...]
    folded: bool = False
    remarks: tuple[Remark, ...] = ()


@dataclasses.dataclass(frozen=True, slots=True)
class Segment:
    """A text and what is said about it: a whole file, or a cell of a notebook.

    Attributes:
      cell: the 1-based number of a notebook's cell; None for a whole file.
      remarks: in order of position; each is in exactly one part.
    """

    cell: int | None
    old: Text
    new: Text
    remarks: tuple[Remark, ...]
    parts: tuple[Part, ...]

    @property
    def changed(self) -> bool:
        return self.old is not self.new


@dataclasses.dataclass(frozen=True, slots=True)
class View:
    """A file as it is shown."""

    path: Path
    changed: bool
    error: str | None
    segments: tuple[Segment, ...]

    @property
    def remarks(self) -> Iterator[Remark]:
        return (remark for segment in self.segments for remark in segment.remarks)

    @property
    def added(self) -> int:
        return sum(row.changed and row.new is not None for row in self._rows)

    @property
    def removed(self) -> int:
        return sum(row.changed and row.old is not None for row in self._rows)

    @property
    def _rows(self) -> Iterator[Row]:
        return (row for segment in self.segments for part in segment.parts for row in part.rows)


def view(file: FileResult) -> View:
    """The file's view. Of a file without a change or remark, and of such cells, no line is shown."""
    found = [*map(Remark.of, file.sites), *map(Remark.of, file.notes)]
    remarks: dict[int | None, list[Remark]] = {}
    for remark in sorted(found, key=lambda each: (each.line, each.column)):
        remarks.setdefault(remark.cell, []).append(remark)
    texts = _texts(file) if file.changed or remarks else {}
    segments = (
        _segment(cell, *texts.get(cell, ("", "")), remarks.get(cell, ()))
        for cell in sorted({*texts, *remarks}, key=lambda cell: cell or 0)
    )
    shown = (segment for segment in segments if segment.changed or segment.remarks)
    return View(file.path, file.changed, file.error, tuple(shown))


def _segment(cell: int | None, before: str, after: str, remarks: Sequence[Remark]) -> Segment:
    old = Text.of(before)
    if before == after:
        new, rows = old, [Row(index, index, False) for index in range(len(old.lines))]
    else:
        new = Text.of(after)
        rows = lines.side_by_side(old.whole(), new.whole())
    parts = tuple(_parts(rows, remarks)) if remarks or old is not new else ()
    return Segment(cell, old, new, tuple(remarks), parts)


def _texts(file: FileResult) -> dict[int | None, tuple[str, str]]:
    """The original and the migrated text of a file, or of each cell of a notebook."""
    if file.path.suffix == NOTEBOOK:
        cells = [_cells(data) for data in (file.before, file.after)]
        if len(cells[0]) == len(cells[1]) > 0:
            return dict(enumerate(zip(*cells, strict=True), 1))
    before, after = (_decoded(file, data) for data in (file.before, file.after))
    return {None: (before, after)}


def _cells(notebook: bytes) -> list[str]:
    """The source of each cell of a notebook; none where it is not what a notebook should be."""
    import json

    try:
        sources = [cell["source"] for cell in json.loads(notebook)["cells"]]
        return [source if isinstance(source, str) else "".join(source) for source in sources]
    except (ValueError, TypeError, KeyError, RecursionError):
        return []


def _decoded(file: FileResult, data: bytes) -> str:
    from codemods.source import SourceError, SourceFile

    try:
        return SourceFile.from_bytes(file.path, data).text
    except SourceError:  # what is migrated can be decoded; what else there is, is shown all the same
        return data.decode("latin-1")


def _by_line(text: str, starts: Sequence[int], shown: Sequence[str]) -> list[tuple[colour.Token, ...]]:
    """The tokens of each line; one that spans several lines has a part in each."""
    own: list[list[colour.Token]] = [[] for _ in starts]
    first = 0
    for token in colour.tokens(text):
        while first + 1 < len(starts) and starts[first + 1] <= token.start:
            first += 1
        for index in itertools.count(first):
            if index == len(starts) or starts[index] >= token.end:
                break
            start, end = starts[index], starts[index] + len(shown[index])
            if max(token.start, start) < min(token.end, end):
                own[index].append(
                    colour.Token(max(token.start, start) - start, min(token.end, end) - start, token.kind)
                )
    return [tuple(each) for each in own]


def _parts(rows: Sequence[Row], remarks: Sequence[Remark]) -> Iterator[Part]:
    """Splits the rows where remarks stand, and where what is seen ends or begins."""
    at = {row.old + 1: index for index, row in enumerate(rows) if row.old is not None}
    above: dict[int, list[Remark]] = {}
    for remark in remarks:
        above.setdefault(_place(rows, at.get(remark.line, len(rows))), []).append(remark)
    seen = _seen(rows, remarks, at)
    bounds = [index for index in range(1, len(rows)) if index in above or seen[index] != seen[index - 1]]
    for start, end in itertools.pairwise([0, *bounds, len(rows)] if rows else []):
        yield Part(tuple(rows[start:end]), not seen[start], tuple(above.get(start, ())))
    if len(rows) in above:  # a place that is not in the text
        yield Part((), remarks=tuple(above[len(rows)]))


def _place(rows: Sequence[Row], index: int) -> int:
    """The row above which to say something about a row: not below lines that were added for it."""
    while 0 < index < len(rows) and rows[index - 1].old is None:
        index -= 1
    return index


def _seen(rows: Sequence[Row], remarks: Sequence[Remark], at: dict[int, int]) -> list[bool]:
    """Which rows are not folded."""
    seen = [False] * len(rows)

    def show(first: int, last: int) -> None:
        for index in range(max(0, first - CONTEXT), min(len(rows), last + CONTEXT + 1)):
            seen[index] = True

    for index, row in enumerate(rows):
        if row.changed:
            show(index, index)
    for remark in remarks:
        if remark.line in at:
            last = min(remark.end_line, remark.line + LONGEST_CALL)
            show(at[remark.line], at.get(last, at[remark.line]))
    for is_seen, group in [
        (key, list(group)) for key, group in itertools.groupby(range(len(rows)), seen.__getitem__)
    ]:
        if not is_seen and len(group) < SHORTEST_FOLD:
            seen[group[0] : group[-1] + 1] = [True] * len(group)
    return seen
