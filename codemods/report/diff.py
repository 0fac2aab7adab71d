"""Changes as unified diffs."""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import Final

from codemods.console import plain
from codemods.model import FileResult

_RED, _GREEN, _CYAN, _BOLD, _RESET = b"\x1b[31m", b"\x1b[32m", b"\x1b[36m", b"\x1b[1m", b"\x1b[0m"
_COLOURS: Final = ((b"---", _BOLD), (b"+++", _BOLD), (b"@@", _CYAN), (b"-", _RED), (b"+", _GREEN))
_NO_NEWLINE: Final = b"\n\\ No newline at end of file\n"


def unified_diff(file: FileResult, *, colour: bool = False, terminal: bool = False) -> bytes:
    r"""The change as a unified diff that `git apply` and `patch -p1` accept; empty for no change.

    They accept it in the current folder, if the file is somewhere below. The lines are the file's own
    bytes, in its own encoding and with its own line endings. As for Git, only `\n` ends a line. For a
    terminal, whatever that would obey is shown by its escape.
    """
    if not file.changed:
        return b""
    name = shown(file.path).as_posix().lstrip("/")
    rows = changed_rows(file.before, file.after, name)
    if terminal:
        rows = list(map(_harmless, rows))
    return b"".join(coloured(row, index) for index, row in enumerate(rows)) if colour else b"".join(rows)


def shown(path: Path) -> Path:
    """A path relative to the current folder, if it is below; else as it is."""
    try:
        relative = os.path.relpath(path)
    except (OSError, ValueError):  # the current folder is gone, or on another drive
        return path
    return path if relative.split(os.sep, 1)[0] == os.pardir else Path(relative)


def changed_rows(before: bytes, after: bytes, name: str) -> list[bytes]:
    """The rows of a unified diff of the file `name`, a header of two rows in front."""
    import difflib

    # `difflib` needs strings; Latin-1 maps bytes to characters and back one to one.
    old, new = (_lines(data.decode("latin-1")) for data in (before, after))
    a, b = (_ended(quoted(f"{prefix}/{name}")).decode("latin-1") for prefix in ("a", "b"))
    rows = [row.encode("latin-1") for row in difflib.unified_diff(old, new, a, b)]
    return [row if row.endswith(b"\n") else row + _NO_NEWLINE for row in rows]


def _harmless(row: bytes) -> bytes:
    text, newline, rest = row.replace(b"\r\n", b"\n").partition(b"\n")
    return plain(text.decode("utf-8", "surrogateescape")).encode("utf-8", "surrogateescape") + newline + rest


def _lines(text: str) -> list[str]:
    """The lines of `text`, their `\n` included."""
    lines = text.split("\n")
    return [line + "\n" for line in lines[:-1]] + ([lines[-1]] if lines[-1] else [])


def quoted(name: str) -> bytes:
    """A file's name, quoted as Git does where it would be misread."""
    data = name.encode("utf-8", "surrogateescape")
    if not re.search(rb'[\x00-\x1f"\\\x7f]', data):
        return data
    return b'"' + re.sub(rb'[\x00-\x1f"\\\x7f-\xff]', lambda match: b"\\%03o" % match.group()[0], data) + b'"'


def _ended(name: bytes) -> bytes:
    """A name as it stands at the end of a line: `patch` takes one with a space up to a tab."""
    return name + b"\t" if b" " in name and not name.startswith(b'"') else name


def coloured(row: bytes, index: int) -> bytes:
    """A row of a diff in its colour, which ends before the line ending."""
    # The first two rows are the header; further down `---` is a removed line that starts with `--`.
    for start, colour in _COLOURS if index < 2 else _COLOURS[2:]:
        if row.startswith(start):
            text, newline, rest = row.partition(b"\n")
            shown = text.removesuffix(b"\r")
            return colour + shown + _RESET + text[len(shown) :] + newline + rest
    return row
