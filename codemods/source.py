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
from pathlib import Path

from codemods.model import LARGEST

_NEWLINE = re.compile(r"\r\n|\r|\n")


class SourceError(Exception):
    """A file that cannot be processed; `line` is 1-based, 0 when unknown."""

    def __init__(self, path: Path, line: int, reason: str) -> None:
        super().__init__(f"{path}:{line}: {reason}" if line else f"{path}: {reason}")
        self.path, self.line, self.reason = path, line, reason


@dataclasses.dataclass(frozen=True)
class SourceFile:
    """A decoded Python file. Offsets are indices into `text`, which has no byte order mark.

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
        """Decodes `data` as Python would; raises `SourceError` where Python could not, or it is too large."""
        if len(data) > LARGEST:
            limit = f"the limit is {LARGEST // 1_000_000} MB"
            raise SourceError(path, 0, f"is too large to be analysed; {limit}")
        try:
            encoding, _ = tokenize.detect_encoding(io.BytesIO(data).readline)
        except (SyntaxError, ValueError) as error:
            raise SourceError(path, 1, f"cannot tell the file's encoding: {error}") from None
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
            raise SourceError(path, 1, f"cannot be decoded as {encoding}: {error}") from None
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
        raise SourceError(path, error.lineno or 0, f"cannot be parsed: {error.msg}") from None
    except (ValueError, RecursionError, MemoryError) as error:
        raise SourceError(path, 0, f"cannot be parsed: {str(error) or type(error).__name__}") from None
