"""A Python file as bytes, decoded text and `ast` tree, with positions mapped between them."""

from __future__ import annotations

import ast
import codecs
import dataclasses
import functools
import io
import re
import tokenize
import warnings
from collections.abc import Collection, Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from codemods.discovery import NOTEBOOK

if TYPE_CHECKING:
    from codemods.model import Note

from codemods.model import LARGEST

_NEWLINE = re.compile(r"\r\n|\r|\n")
_TWO_LINES = re.compile(rb"(?:[^\r\n]*(?:\r\n|\r|\n)?){2}")
_LONGEST = 200
# What Python says of a print or exec statement, of `except E, e:` and of `0777`; and `raise E, "text"`,
# `a <> b`, `ur""` and a value in backticks, of which it says nothing in particular.
_PYTHON_2_MESSAGE = re.compile(
    r"Missing parentheses in call to '(?:print|exec)'|multiple exception types must be parenthesized"
    r"|leading zeros in decimal integer literals"
)
_PYTHON_2 = re.compile(r"^\s*raise\s+[\w.]+\s*,|^[^'\"#]*(?:<>|`\w|\b[uU][rR]['\"]|\d[lL]\b)")


class SourceError(Exception):
    """A file that cannot be processed; `line` is 1-based, in a notebook's `cell` if given, 0 when unknown."""

    def __init__(self, path: Path, line: int, reason: str, cell: int | None = None) -> None:
        place = f"{path}:cell {cell}" if cell is not None else f"{path}"
        super().__init__(f"{place}:{line}: {reason}" if line else f"{place}: {reason}")
        self.path, self.line, self.reason, self.cell = path, line, reason, cell


@dataclasses.dataclass(frozen=True, slots=True)
class Change:
    """Replaces `text[start:end]` by new text, with the line endings that it has in the file."""

    start: int
    end: int
    text: str


def changed(text: str, changes: Iterable[Change]) -> str:
    """A text with changes, which are in order."""
    parts, position = [], 0
    for change in changes:
        parts += [text[position : change.start], change.text]
        position = change.end
    return "".join([*parts, text[position:]])


@dataclasses.dataclass(frozen=True, slots=True)
class Position:
    """A place as the user sees it: 1-based line and column, in a cell if the file is a notebook."""

    line: int
    column: int
    cell: int | None = None


@dataclasses.dataclass(frozen=True)
class SourceFile:
    """A decoded Python file. Offsets are indices into `text`, which has no byte order mark.

    A notebook is one as well: `codemods.notebooks.Notebook`, whose `text` is made from its cells.

    Attributes:
      path: as shown to the user.
      data: the file's bytes, as read.
      text: `data` decoded; line endings are as in the file.
      encoding: the codec name that the file declares or implies.
      has_bom: whether `data` starts with UTF-8's byte order mark.
    """

    path: Path
    data: bytes
    text: str
    encoding: str
    has_bom: bool

    @classmethod
    def from_bytes(cls, path: Path, data: bytes) -> SourceFile:
        """Decodes `data` as Python would, or reads it as a notebook if `path` is one's.

        Raises:
          SourceError: Python could not decode it, it is no notebook that can be read, or it is too large.
        """
        if path.suffix == NOTEBOOK:
            from codemods.notebooks import Notebook  # most files are none

            return Notebook.from_bytes(path, data)
        check_size(path, data, LARGEST)
        try:
            encoding, _ = tokenize.detect_encoding(io.BytesIO(_first_lines(data)).readline)
        except (SyntaxError, ValueError) as error:
            raise SourceError(path, 1, f"cannot tell the file's encoding: {_shown(error)}") from None
        has_bom = data.startswith(codecs.BOM_UTF8)
        if encoding == "utf-8-sig":
            encoding = "utf-8"
        body = data[len(codecs.BOM_UTF8) :] if has_bom else data
        try:
            text = body.decode(encoding)
        except UnicodeDecodeError as error:
            line = len(_NEWLINE.findall(body[: error.start].decode("latin-1"))) + 1
            raise SourceError(path, line, f"is not valid {encoding}: {error.reason}") from None
        except (LookupError, ValueError) as error:  # a codec that is not for text, or fails on its own terms
            raise SourceError(path, 1, f"cannot be decoded as {_shown(encoding)}: {_shown(error)}") from None
        try:
            survives = text.encode(encoding) == body
        except ValueError:
            survives = False
        if not survives:
            raise SourceError(path, 1, f"does not survive a round trip through {encoding}")
        return cls(path, data, text, encoding, has_bom)

    def encode(self, text: str) -> bytes:
        """Encodes new text as the file was; raises `SourceError` when a character has no code."""
        try:
            body = text.encode(self.encoding)
        except ValueError as error:  # most codecs raise its subclass UnicodeEncodeError
            raise SourceError(self.path, 0, f"cannot be written in {self.encoding}: {error}") from None
        return codecs.BOM_UTF8 + body if self.has_bom else body

    def changed(self, changes: Sequence[Change]) -> bytes:
        """The file's bytes with changes of `text`; raises `SourceError` when a character has no code."""
        return self.encode(changed(self.text, changes))

    def check(self, changes: Sequence[Change]) -> None:
        """Raises `SourceError` if the text does not parse any more with the changes."""
        parse(self.path, changed(self.text, changes))

    def error(self, line: int, reason: str) -> SourceError:
        """What to raise about a line of `text`."""
        return SourceError(self.path, line, reason)

    def position(self, line: int, column: int) -> Position:
        """How the user sees a line of `text`, and a 1-based column."""
        return Position(line, column)

    def reworded(self, message: str) -> str:
        """A message that says `line 7` of lines of `text`, as the user sees them."""
        return message

    def excerpt(self, line: int, cell: int | None = None) -> str | None:
        """The line at a position that the user sees; None where there is none."""
        return self.line_text(line) if 0 < line <= len(self.line_starts) else None

    @property
    def boundaries(self) -> frozenset[int]:
        """The lines of `text` that are not the file's, but stand between its parts."""
        return frozenset()

    @property
    def is_importable(self) -> bool:
        """Whether other modules may import what the file defines."""
        return True

    @property
    def runs_files(self) -> bool:
        """Whether the file takes all names of others into its own namespace, private ones as well."""
        return False

    @property
    def own_text(self) -> str:
        """The decoded file: `text`, but for a notebook, whose own text is JSON."""
        return self.text

    def may_call(self, names: Collection[str]) -> bool:
        """Whether the code may call what has one of `names`, one of which is somewhere in the file."""
        return True

    def unread(self, names: Collection[str]) -> tuple[Note, ...]:
        """Where parts of the file that are not in `text` spell one of `names`."""
        return ()

    def is_command(self, line: int) -> bool:
        """Whether a line of `text` is part of a command that ends with the line."""
        return False

    def keeps_names(self, line: int) -> bool:
        """Whether what a line of `text` binds is still bound behind it."""
        return True

    @functools.cached_property
    def tree(self) -> ast.Module:
        """The parsed module; raises `SourceError` with the line of the first syntax error."""
        return parse(self.path, self.text)

    @functools.cached_property
    def newline(self) -> str:
        """The line ending of the file's first line; `\\n` for a file of one line."""
        found = _NEWLINE.search(self.text)
        return found.group() if found else "\n"

    @functools.cached_property
    def line_starts(self) -> tuple[int, ...]:
        """The offset at which each line starts; index 0 is line 1."""
        return (0, *(match.end() for match in _NEWLINE.finditer(self.text)))

    def line_start(self, line: int) -> int:
        return self.line_starts[line - 1]

    def line_end(self, line: int) -> int:
        """The offset just behind a line, its line ending included."""
        return self.line_starts[line] if line < len(self.line_starts) else len(self.text)

    def line_text(self, line: int) -> str:
        return self.text[self.line_start(line) : self.line_end(line)]

    def offset(self, line: int, utf8_column: int) -> int:
        """The offset of an `ast` position, whose columns count UTF-8 bytes."""
        start = self.line_start(line)
        head = self.text[start : start + utf8_column]
        if head.isascii():
            return start + utf8_column
        return start + len(self.line_text(line).encode()[:utf8_column].decode())

    def start(self, node: ast.expr | ast.stmt | ast.arg | ast.keyword | ast.alias) -> int:
        return self.offset(node.lineno, node.col_offset)

    def end(self, node: ast.expr | ast.stmt | ast.arg | ast.keyword | ast.alias) -> int:
        assert node.end_lineno is not None and node.end_col_offset is not None
        return self.offset(node.end_lineno, node.end_col_offset)

    def segment(self, node: ast.expr | ast.stmt | ast.arg | ast.keyword | ast.alias) -> str:
        return self.text[self.start(node) : self.end(node)]

    def indentation(self, line: int) -> str:
        """The white space in front of a line's first other character."""
        text = self.line_text(line)
        return text[: len(text) - len(text.lstrip(" \t\f"))]


def check_size(path: Path, data: bytes, largest: int) -> None:
    """Raises `SourceError` for more than `largest` bytes."""
    if len(data) > largest:
        limit = f"the limit is {largest // 1_000_000} MB"
        raise SourceError(path, 0, f"is too large to be analysed; {limit}")


def _shown(what: object) -> str:
    """A text of which the file has a part, as long as an error may be."""
    text = str(what)
    return text if len(text) <= _LONGEST else f"{text[:_LONGEST]}…"


def _first_lines(data: bytes) -> bytes:
    """The lines that may declare the encoding, with the one ending that `tokenize` knows."""
    found = _TWO_LINES.match(data)
    assert found is not None
    return found.group().replace(b"\r\n", b"\n").replace(b"\r", b"\n")


def parse(path: Path, text: str) -> ast.Module:
    """Parses `text`; every failure of Python's parser becomes a `SourceError`."""
    if (null := text.find("\0")) >= 0:  # Python does not say where
        line = len(_NEWLINE.findall(text, 0, null)) + 1
        raise SourceError(path, line, "cannot be parsed: it contains a null byte")
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # a SyntaxWarning is the user's own, and not about us
            return ast.parse(text, filename=str(path))
    except SyntaxError as error:
        hint = "; this looks like Python 2" if _is_python_2(error) else ""
        raise SourceError(path, error.lineno or 0, f"cannot be parsed: {error.msg}{hint}") from None
    except (ValueError, RecursionError, MemoryError) as error:
        raise SourceError(path, 0, f"cannot be parsed: {str(error) or type(error).__name__}") from None


def _is_python_2(error: SyntaxError) -> bool:
    """Whether what Python stumbles over was once Python."""
    return _PYTHON_2_MESSAGE.match(error.msg) is not None or _PYTHON_2.search(error.text or "") is not None
