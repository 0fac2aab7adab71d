"""A notebook's JSON as text: where the source of each code cell stands in it, and how it is replaced there.

Nothing is serialised anew. A cell that changes keeps the form of its source, a list of lines or one string,
its white space, and the escapes of every character that stays.
"""

from __future__ import annotations

import dataclasses
import functools
import itertools
import json
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from codemods.source import Change

_BLANK: Final = re.compile(r"[ \t\n\r]*")
# One character of a JSON string as it is written; two escaped surrogates are one character.
_UNIT: Final = re.compile(
    r"\\u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}|\\u[0-9a-fA-F]{4}|\\.|[^\\]", re.DOTALL
)
_ESCAPED: Final = re.compile(r"(?<!\\)(?:\\\\)*\\u[0-9a-fA-F]{4}")
_ENDINGS: Final = ("\n", "\r")
_PYTHON: Final = re.compile(r"i?python[\d.]*", re.IGNORECASE)


class DocumentError(Exception):
    """A text that is no notebook to be read; `line` is 1-based, 0 where the whole is meant."""

    def __init__(self, line: int, reason: str) -> None:
        super().__init__(reason)
        self.line, self.reason = line, reason


@dataclasses.dataclass(frozen=True, slots=True)
class Token:
    """A string of the JSON text: its span, quotes included, and its value."""

    start: int
    end: int
    value: str


@dataclasses.dataclass(frozen=True, eq=False, slots=True)
class Cell:
    """A code cell.

    Attributes:
      number: 1-based, among all cells of the notebook.
      start, end: the span of the value of `source` in the JSON text.
      tokens: its strings, usually one a line.
      is_list: whether they stand in a list; else there is one.
      gap: the white space in front of the key `source`.
      language: the language that the cell's metadata name; empty for the notebook's.
    """

    number: int
    start: int
    end: int
    tokens: tuple[Token, ...]
    is_list: bool
    gap: str
    language: str

    @property
    def text(self) -> str:
        return "".join(token.value for token in self.tokens)


@dataclasses.dataclass(frozen=True, slots=True)
class Document:
    """A notebook.

    Attributes:
      text: the JSON text, without a byte order mark.
      cells: its code cells in Python, in order; none where the notebook's language is another.
    """

    text: str
    cells: tuple[Cell, ...]

    @classmethod
    def read(cls, text: str) -> Document:
        """Finds the code cells in a JSON text.

        Raises:
          DocumentError: it is malformed, or no notebook of format 4.
        """
        try:
            return _Reader(text).document()
        except json.JSONDecodeError as error:
            raise DocumentError(error.lineno, f"is not valid JSON: {error.msg}") from None
        except RecursionError:
            raise DocumentError(0, "is nested too deeply to be read") from None

    def changed(self, changes: Mapping[Cell, Sequence[Change]], newline: str = "\n") -> str:
        """The JSON text with changes of cells' sources.

        The changes of a cell are in order, and may reach behind its text, where `newline` is thought to be: a
        line that is removed from the end takes the line ending in front of it along.
        """
        parts, position = [], 0
        for cell in sorted((cell for cell in changes if changes[cell]), key=lambda each: each.start):
            parts += [self.text[position : cell.start], self._source(cell, changes[cell], newline)]
            position = cell.end
        return "".join([*parts, self.text[position:]])

    def _source(self, cell: Cell, changes: Sequence[Change], newline: str) -> str:
        old = _Characters.of(cell, self.text)
        new = old.changed(changes, newline, is_ascii=self._is_ascii(cell))
        if not cell.is_list:
            return f'"{"".join(new.written)}"'
        if not new.text:
            return "[]"
        opening = self.text[cell.start : cell.tokens[0].start] if cell.tokens else "["
        closing = self.text[cell.tokens[-1].end : cell.end] if cell.tokens else "]"
        places = sorted(new.breaks)
        default = self._separator(cell, opening)
        parts = [f'{opening}"']
        for start, end in itertools.pairwise([0, *places, len(new.text)]):
            parts += new.written[start:end]
            if end in new.breaks:
                parts.append(f'"{new.breaks[end] or default}"')
        return "".join([*parts, f'"{closing}'])

    def _separator(self, cell: Cell, opening: str) -> str:
        """What stands between two strings of a list."""
        if len(cell.tokens) > 1:
            return self.text[cell.tokens[0].end : cell.tokens[1].start]
        if blank := opening[1:]:
            return f",{blank}"
        return f",{cell.gap}" if "\n" not in cell.gap else ", "

    def _is_ascii(self, cell: Cell) -> bool:
        """Whether characters beyond ASCII are escaped: as in the cell, or else in the notebook."""
        for text in (self.text[cell.start : cell.end], self.text):
            if not text.isascii():
                return False
            if _has_escapes(text):
                return True
        return False


@dataclasses.dataclass(frozen=True, slots=True)
class _Characters:
    """The characters of a cell's source.

    Attributes:
      written: each character as it stands in the JSON text.
      breaks: where one string of the list ends and the next begins, with what stands between them; None for
        the usual.
    """

    text: str
    written: Sequence[str]
    breaks: Mapping[int, str | None]

    @classmethod
    def of(cls, cell: Cell, document: str) -> _Characters:
        written: list[str] = []
        breaks: dict[int, str | None] = {}
        for token, following in itertools.zip_longest(cell.tokens, cell.tokens[1:]):
            written += _UNIT.findall(document, token.start + 1, token.end - 1)
            if following is not None:
                breaks[len(written)] = document[token.end : following.start]
        return cls(cell.text, written, breaks)

    def changed(self, changes: Sequence[Change], newline: str, *, is_ascii: bool) -> _Characters:
        text = self.text + newline
        units = [*self.written, *(_escaped(character, is_ascii) for character in newline)]
        new: list[str] = []
        written: list[str] = []
        breaks: dict[int, str | None] = {}
        position = 0
        for change in (*changes, Change(len(text), len(text), "")):
            shift = len(new) - position
            for place, between in self.breaks.items():
                if position < place <= change.start:
                    breaks[place + shift] = between
                elif place == position and (_ends_line(new) or text[place - 1] != "\n"):
                    breaks.setdefault(len(new), between)  # unless the line ending in front was removed
            new += text[position : change.start]
            written += units[position : change.start]
            if change.text and _ends_line(new):
                breaks.setdefault(len(new), None)
            breaks |= {len(new) + i: None for i, c in enumerate(change.text, 1) if c == "\n"}
            new += change.text
            written += [_escaped(character, is_ascii) for character in change.text]
            position = change.end
        changed = "".join(new)
        first, last = 0, len(changed.removesuffix(newline))
        # A cell that has no blank lines at its ends has none afterwards.
        if not self.text.endswith(_ENDINGS):
            last = len(changed.rstrip("\r\n"))
        if not self.text.startswith(_ENDINGS):
            first = min(last, len(changed) - len(changed.lstrip("\r\n")))
        within = {place - first: between for place, between in breaks.items() if first < place < last}
        return _Characters(changed[first:last], written[first:last], within)


@functools.lru_cache(maxsize=2)  # the notebook is asked about for each of its cells
def _has_escapes(text: str) -> bool:
    return _ESCAPED.search(text) is not None


def _ends_line(characters: Sequence[str]) -> bool:
    return bool(characters) and characters[-1] == "\n"


def _escaped(character: str, is_ascii: bool) -> str:
    return json.dumps(character, ensure_ascii=is_ascii)[1:-1]


class _Reader:
    """One walk over the JSON text. What is not about code cells is passed over at the speed of `json`."""

    def __init__(self, text: str) -> None:
        self._text, self._index = text, 0
        self._decode = json.JSONDecoder(parse_int=str).raw_decode  # no number matters, however long

    def document(self) -> Document:
        cells: list[Cell] = []
        metadata: Any = {}
        keys: set[str] = set()
        self._skip_blank()
        if not self._text.startswith("{", self._index):
            self._value()
            self._end()
            raise DocumentError(0, "is not a notebook: it holds no object")
        for key, _ in self._members():
            keys.add(key)
            if key == "cells" and self._text.startswith("[", self._index):
                cells = [cell for number, _ in enumerate(self._elements(), 1) for cell in self._cell(number)]
            elif key == "metadata":
                metadata = self._value()
            else:
                self._value()
        self._end()
        if "cells" not in keys:
            if "worksheets" in keys:
                way_out = "convert it with `jupyter nbconvert --to notebook --inplace`"
                raise DocumentError(0, f"is a notebook of an old format, which is not read: {way_out}")
            raise DocumentError(0, "is not a notebook: it has no cells")
        if not all(_PYTHON.fullmatch(language) for language in _languages(metadata)):
            cells = []
        return Document(self._text, tuple(c for c in cells if _PYTHON.fullmatch(c.language or "python")))

    def _cell(self, number: int) -> Iterator[Cell]:
        """The cell that comes next, if it holds code."""
        if not self._text.startswith("{", self._index):
            self._value()
            return
        kind: Any = None
        metadata: Any = None
        source: tuple[int, int, tuple[Token, ...], bool, str] | None = None
        for key, gap in self._members():
            if key == "source":
                source = self._source(number, gap)
            elif key == "cell_type":
                kind = self._value()
            elif key == "metadata":
                metadata = self._value()
            else:
                self._value()
        if kind == "code" and source is not None:
            yield Cell(number, *source, _cell_language(metadata))

    def _source(self, number: int, gap: str) -> tuple[int, int, tuple[Token, ...], bool, str]:
        start = self._index
        is_list = self._text.startswith("[", start)
        tokens = [self._token(number) for _ in self._elements()] if is_list else [self._token(number)]
        return start, self._index, tuple(tokens), is_list, gap

    def _token(self, number: int) -> Token:
        start = self._index
        if not self._text.startswith('"', start):
            line = self._text.count("\n", 0, start) + 1
            raise DocumentError(line, f"is not a notebook: the source of cell {number} is no text")
        value = self._value()
        return Token(start, self._index, value)

    # JSON.

    def _members(self) -> Iterator[tuple[str, str]]:
        """Each key of the object that comes next, and the white space in front; its value comes next then."""
        self._index += 1
        gap = self._skip_blank()
        if self._take("}"):
            return
        while True:
            if not self._text.startswith('"', self._index):
                self._fail("Expecting property name enclosed in double quotes")
            key = self._value()
            self._skip_blank()
            if not self._take(":"):
                self._fail("Expecting ':' delimiter")
            self._skip_blank()
            yield key, gap
            self._skip_blank()
            if self._take("}"):
                return
            if not self._take(","):
                self._fail("Expecting ',' delimiter")
            gap = self._skip_blank()

    def _elements(self) -> Iterator[None]:
        """Stops at each element of the array that comes next."""
        self._index += 1
        self._skip_blank()
        if self._take("]"):
            return
        while True:
            yield None
            self._skip_blank()
            if self._take("]"):
                return
            if not self._take(","):
                self._fail("Expecting ',' delimiter")
            self._skip_blank()

    def _value(self) -> Any:
        value, self._index = self._decode(self._text, self._index)
        return value

    def _end(self) -> None:
        self._skip_blank()
        if self._index != len(self._text):
            self._fail("Extra data")

    def _skip_blank(self) -> str:
        found = _BLANK.match(self._text, self._index)
        assert found is not None
        self._index = found.end()
        return found.group()

    def _take(self, character: str) -> bool:
        if not self._text.startswith(character, self._index):
            return False
        self._index += 1
        return True

    def _fail(self, message: str) -> None:
        raise json.JSONDecodeError(message, self._text, self._index)


def _languages(metadata: Any) -> Iterator[str]:
    """The languages that a notebook's metadata name."""
    match metadata:
        case {"language_info": {"name": str(language)}} if language:
            yield language
    match metadata:
        case {"kernelspec": {"language": str(language)}} if language:
            yield language


def _cell_language(metadata: Any) -> str:
    """The language that a cell's metadata name, as editors write them for notebooks in several languages."""
    match metadata:
        case {"vscode": {"languageId": str(language)}} | {"polyglot_notebook": {"kernelName": str(language)}}:
            return language
    return ""
