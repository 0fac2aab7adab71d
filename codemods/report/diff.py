"""Changes as unified diffs."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Final

from codemods.model import FileResult

_RED, _GREEN, _CYAN, _BOLD, _RESET = b"\x1b[31m", b"\x1b[32m", b"\x1b[36m", b"\x1b[1m", b"\x1b[0m"
_COLOURS: Final = ((b"---", _BOLD), (b"+++", _BOLD), (b"@@", _CYAN), (b"-", _RED), (b"+", _GREEN))
_NO_NEWLINE: Final = b"\n\\ No newline at end of file\n"


def unified_diff(file: FileResult, *, colour: bool = False) -> bytes:
    r"""The change as a unified diff that `git apply` and `patch -p1` accept; empty for no change.

    The lines are the file's own bytes, in its own encoding and with its own line endings. As for Git,
    only `\n` ends a line.
    """
    import difflib

    if not file.changed:
        return b""
    # `difflib` needs strings; Latin-1 maps bytes to characters and back one to one.
    before, after = (_lines(data.decode("latin-1")) for data in (file.before, file.after))
    old, new = (_diff_name(prefix, file.path).decode("latin-1") for prefix in ("a", "b"))
    rows = [row.encode("latin-1") for row in difflib.unified_diff(before, after, old, new)]
    rows = [row if row.endswith(b"\n") else row + _NO_NEWLINE for row in rows]
    return b"".join(_coloured(row, index) for index, row in enumerate(rows)) if colour else b"".join(rows)


def _lines(text: str) -> list[str]:
    """The lines of `text`, their `\n` included."""
    lines = text.split("\n")
    return [line + "\n" for line in lines[:-1]] + ([lines[-1]] if lines[-1] else [])


def _diff_name(prefix: str, path: Path) -> bytes:
    """The name of a file in a diff's header, quoted as Git does where it would be misread."""
    name = f"{prefix}/".encode() + path.as_posix().lstrip("/").encode("utf-8", "surrogateescape")
    if re.search(rb'[\x00-\x1f"\\\x7f]', name):
        quoted = re.sub(rb'[\x00-\x1f"\\\x7f-\xff]', lambda match: b"\\%03o" % match.group()[0], name)
        return b'"' + quoted + b'"'
    return name + b"\t" if b" " in name else name  # `patch` takes a name up to the tab


def _coloured(row: bytes, index: int) -> bytes:
    """A row of a diff in its colour, which ends before the line ending."""
    # The first two rows are the header; further down `---` is a removed line that starts with `--`.
    for start, colour in _COLOURS if index < 2 else _COLOURS[2:]:
        if row.startswith(start):
            text, newline, rest = row.partition(b"\n")
            shown = text.removesuffix(b"\r")
            return colour + shown + _RESET + text[len(shown) :] + newline + rest
    return row
