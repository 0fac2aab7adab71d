"""Jupyter notebooks: the code cells as one module, and what changes in it written back into the cells."""

from __future__ import annotations

import ast
import bisect
import codecs
import dataclasses
import functools
import itertools
import re
from collections.abc import Callable, Collection, Sequence
from pathlib import Path
from typing import Final

from codemods.model import LARGEST_NOTEBOOK, Diagnostic, Note
from codemods.notebooks import ipython
from codemods.notebooks.document import Cell, Document, DocumentError
from codemods.notebooks.ipython import Code, Piece
from codemods.source import Change, Position, SourceError, SourceFile, check_size, parse

_NEWLINE: Final = re.compile(r"\r\n|\r|\n")
_LINES: Final = re.compile(r"\b([Ll]ine)s? (\d+(?:, \d+)*(?: and \d+)?)(?!\d| of \S+\.py)")
# What nbdev makes a module's code of.
_EXPORTED: Final = re.compile(
    r"^[ \t]*#[ \t]*\|?[ \t]*exports?i?(?:[ \t]+[\w.]+)?[ \t\r]*$|\bnbdev_export\b", re.MULTILINE
)
_STEM: Final = re.compile(r"__ipython_*")
_BY_HAND: Final = "Migrate it by hand, if it is a call."


@dataclasses.dataclass(frozen=True, slots=True)
class _Part:
    """The text of one cell.

    Attributes:
      start, end: its span in the module's text, the line ending behind it included.
      spans: where each of the cell's pieces stands there.
    """

    cell: Cell
    code: Code
    start: int
    end: int
    spans: tuple[tuple[int, int, Piece], ...]

    def offset(self, offset: int) -> int:
        """Where in the cell an offset of the module's text lies; None inside of what stands for a command."""
        for start, end, piece in self.spans:
            if start <= offset <= end and piece.python is None:
                return piece.start + offset - start
            if start <= offset < end:
                return piece.start
            if offset == end:
                return piece.end
        last_start, last_end = (self.spans[-1][1], self.spans[-1][2].end) if self.spans else (self.start, 0)
        return last_end + offset - last_start

    @property
    def commands(self) -> list[str]:
        """What only IPython understands, as it is in the cell."""
        return [self.cell.text[p.start : p.end] for p in self.code.pieces if p.python is not None]

    def position(self, offset: int) -> Position:
        """What the user sees of an offset in the cell."""
        starts = _line_starts(self.cell)
        offset = min(offset, starts[-1] + len(_lines(self.cell)[-1]))
        line = bisect.bisect_right(starts, offset)
        return Position(line, offset - starts[line - 1] + 1, self.cell.number)


@dataclasses.dataclass(frozen=True)
class Notebook(SourceFile):
    """A notebook, whose `text` is its code cells in order, with a line that is not its own behind each.

    For each command that only IPython understands, something in Python stands there on one line.
    """

    document: Document
    parts: tuple[_Part, ...]
    boundaries: frozenset[int] = frozenset()

    @classmethod
    def from_bytes(cls, path: Path, data: bytes) -> Notebook:
        """Reads a notebook's cells.

        Raises:
          SourceError: it is no notebook of format 4, or too large.
        """
        check_size(path, data, LARGEST_NOTEBOOK)
        return cls._read(path, data)

    @classmethod
    def _read(cls, path: Path, data: bytes) -> Notebook:
        has_bom = data.startswith(codecs.BOM_UTF8)
        try:
            document = Document.read(data[len(codecs.BOM_UTF8) if has_bom else 0 :].decode())
        except UnicodeDecodeError as error:
            line = data.count(b"\n", 0, error.start) + 1
            raise SourceError(path, line, f"is not valid utf-8: {error.reason}") from None
        except DocumentError as error:
            raise SourceError(path, error.line, error.reason) from None
        text, parts, boundaries = _module(document)
        return cls(path, data, text, "utf-8", has_bom, document, parts, boundaries)

    def encode(self, text: str) -> bytes:
        body = text.encode()
        return codecs.BOM_UTF8 + body if self.has_bom else body

    def changed(self, changes: Sequence[Change]) -> bytes:
        """The notebook's bytes with changes of `text`, each of which lies in one cell.

        Raises:
          SourceError: a command stands where the text changes.
        """
        by_cell: dict[Cell, list[Change]] = {}
        for change in changes:
            part = self._part(change.start)
            assert change.end <= part.end, "a change reaches over the end of its cell"
            start, end = part.offset(change.start), part.offset(change.end)
            by_cell.setdefault(part.cell, []).append(Change(start, end, self._with_commands(change, part)))
        kept = {cell: _with_body(cell.text, those) for cell, those in by_cell.items()}
        return self.encode(self.document.changed(kept, self.newline))

    def check(self, changes: Sequence[Change]) -> None:
        after = self._read(self.path, self.changed(changes))
        _ = after.tree
        # Where a command is torn apart, its cell is none that can be parsed, or has other commands.
        for old, new in zip(self.parts, after.parts, strict=True):
            if old.commands != new.commands:
                reason = "a command of IPython is changed"
                raise SourceError(self.path, 1, reason, new.cell.number)

    def _with_commands(self, change: Change, part: _Part) -> str:
        """The new text with the commands of the old one back in their places."""
        text = change.text
        for start, end, piece in part.spans:
            if piece.python is None or end <= change.start or change.end <= start:
                continue
            if text.count(piece.python) != 1 or start < change.start or change.end < end:
                line = bisect.bisect_right(self.line_starts, start)
                raise self.error(line, "a command of IPython stands in code that must change")
            text = text.replace(piece.python, part.cell.text[piece.start : piece.end])
        return text

    # Positions.

    def _part(self, offset: int) -> _Part:
        return self.parts[max(0, bisect.bisect_right(self._starts, offset) - 1)]

    @functools.cached_property
    def _starts(self) -> list[int]:
        return [part.start for part in self.parts]

    def position(self, line: int, column: int) -> Position:
        start = self.line_start(min(line, len(self.line_starts)))
        part = self._part(start)
        return part.position(part.offset(min(start + column - 1, part.end)))

    def error(self, line: int, reason: str) -> SourceError:
        if not self.parts or not line:
            return SourceError(self.path, 0, reason)
        position = self.position(line, 1)
        return SourceError(self.path, position.line, reason, position.cell)

    def reworded(self, message: str) -> str:
        return _LINES.sub(self._reworded_lines, message)

    def _reworded_lines(self, match: re.Match[str]) -> str:
        cells: dict[int | None, list[str]] = {}
        for line in re.findall(r"\d+", match[2]):
            position = self.position(int(line), 1)
            cells.setdefault(position.cell, []).append(str(position.line))
        named = [
            f"line{'s' if len(lines) > 1 else ''} {', '.join(lines)} of cell {cell}"
            for cell, lines in cells.items()
        ]
        text = ", ".join(named)
        return text[0].upper() + text[1:] if match[1][0].isupper() else text

    def excerpt(self, line: int, cell: int | None = None) -> str | None:
        found = next((part.cell for part in self.parts if part.cell.number == cell), None)
        lines = _lines(found) if found is not None else ()
        return lines[line - 1] if 0 < line <= len(lines) else None

    def is_command(self, line: int) -> bool:
        start, end = self.line_start(line), self.line_end(line)
        return any(piece.is_prefix and start <= first < end for first, _, piece in self._part(start).spans)

    def keeps_names(self, line: int) -> bool:
        return not self._part(self.line_start(line)).code.is_scratch

    # The module.

    @functools.cached_property
    def tree(self) -> ast.Module:
        """The parsed module; raises `SourceError` with cell and line of the first syntax error."""
        for part in self.parts:
            if part.code.is_open:
                self._parse_open(part)
        return self._parsed(self.text, 1)

    def _parse_open(self, part: _Part) -> None:
        """Raises for a cell that is not finished, and would take the next one for its end."""
        first = bisect.bisect_right(self.line_starts, part.start)
        self._parsed(self.text[part.start : part.end].rstrip("\r\n"), first)
        raise self.error(first, "cannot be parsed: the cell is not finished")

    def _parsed(self, text: str, first: int) -> ast.Module:
        try:
            return parse(self.path, text)
        except SourceError as error:
            raise self.error(error.line and error.line + first - 1, error.reason) from None

    @property
    def is_importable(self) -> bool:
        """Whether tools make a module of the notebook; nothing imports it as it is."""
        return any(_EXPORTED.search(part.cell.text) for part in self.parts)

    @property
    def runs_files(self) -> bool:
        return any(part.code.runs_files for part in self.parts)

    @property
    def own_text(self) -> str:
        return self.document.text

    def may_call(self, names: Collection[str]) -> bool:
        return any(name in self.text for name in names)  # and not in outputs alone

    def unread(self, names: Collection[str]) -> tuple[Note, ...]:
        return tuple(
            self._unread(part, start + found.start(), found.group(), command)
            for part in self.parts
            for start, end, command in part.code.unread
            for found in re.finditer("|".join(map(re.escape, names)), part.cell.text[start:end])
        )

    def _unread(self, part: _Part, offset: int, name: str, command: str) -> Note:
        position = part.position(offset)
        reason = f"`{name}` stands in a command, `{command}`, which is not read."
        return Note(position.line, position.column, Diagnostic("BC011", reason, _BY_HAND), position.cell)


@functools.lru_cache(maxsize=16)
def _lines(cell: Cell) -> tuple[str, ...]:
    """The lines of a cell's text, without their endings."""
    return tuple(_NEWLINE.split(cell.text))


@functools.lru_cache(maxsize=16)
def _line_starts(cell: Cell) -> tuple[int, ...]:
    return (0, *(match.end() for match in _NEWLINE.finditer(cell.text)))


def _module(document: Document) -> tuple[str, tuple[_Part, ...], frozenset[int]]:
    """The text of the module, its parts, and the lines between them."""
    texts = [cell.text for cell in document.cells]
    endings = (found for text in texts if (found := _NEWLINE.search(text)) is not None)
    newline = next((found.group() for found in endings), "\n")
    fresh = _fresh_names(texts)
    parts: list[_Part] = []
    written: list[str] = []
    length = 0
    starts: list[int] = []

    def write(text: str) -> tuple[int, int]:
        nonlocal length
        written.append(text)
        length += len(text)
        return length - len(text), length

    for cell, text in zip(document.cells, texts, strict=True):
        code = ipython.read(text, fresh)
        if code.header:
            starts.append(write(code.header + newline)[0])
        start = length
        spans = tuple(
            (*write(text[p.start : p.end] if p.python is None else p.python), p) for p in code.pieces
        )
        parts.append(_Part(cell, code, start, write(newline)[1], spans))
        bound = f"({', '.join(code.bound)},) = {fresh()}" if code.bound else "pass"
        starts.append(write(bound + newline)[0])
    module = "".join(written)
    lines = {0: 1, **{match.end(): line for line, match in enumerate(_NEWLINE.finditer(module), 2)}}
    return module, tuple(parts), frozenset(lines[start] for start in starts)


def _fresh_names(texts: Sequence[str]) -> Callable[[], str]:
    """Makes names that no text spells."""
    found = (match.group() for text in texts for match in _STEM.finditer(text))
    longest = max(found, key=len, default="")
    stem = f"{longest}_" if longest else "__ipython"
    numbers = itertools.count(1)
    return lambda: f"{stem}_{next(numbers)}__"


def _with_body(text: str, changes: list[Change]) -> list[Change]:
    """The changes of a cell, with a `pass` where they leave no body to a command that needs one."""
    if not text.lstrip().startswith("%%"):
        return changes
    after, end = "", 0
    for change in sorted(changes, key=lambda each: each.start):
        after, end = after + text[end : change.start] + change.text, change.end
    after += text[end:]
    if "\n" in after.strip():
        return changes
    *others, last = sorted(changes, key=lambda each: each.start)
    gap = "" if after.endswith("\n") else "\n"
    return [*others, dataclasses.replace(last, text=f"{last.text}{gap}pass")]
