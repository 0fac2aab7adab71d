"""Standard output and standard error, whatever they are connected to."""

from __future__ import annotations

import errno
import os
import sys
from typing import Final, TextIO

# Control characters, which a file's name may have and a terminal would obey, and those that change the order
# in which text is shown.
_CONTROLS: Final = (
    *range(32), *range(127, 160), 0x61C, 0x200E, 0x200F, *range(0x2028, 0x202F), *range(0x2066, 0x206A),
)  # fmt: skip
_ESCAPES: Final = {code: f"\\x{code:02x}" if code < 256 else f"\\u{code:04x}" for code in _CONTROLS}
_SHOWN: Final = {code: escape for code, escape in _ESCAPES.items() if code not in (9, 10)}
# What writing to a pipe without a reader fails with; the second on Windows.
_READER_GONE: Final = frozenset({errno.EPIPE, errno.EINVAL})


class OutputError(Exception):
    """Standard output does not take what the user asked for."""


def write(text: str | bytes) -> None:
    """Writes to standard output. That its reader went away, as `head` does, is no failure.

    Raises:
      OutputError: the output cannot be written, as on a full disk.
    """
    if sys.stdout is None:
        return
    try:
        sys.stdout.flush()
        sys.stdout.buffer.write(text if isinstance(text, bytes) else _encoded(text, sys.stdout))
        sys.stdout.buffer.flush()
    except OSError as error:
        _discard(sys.stdout)
        if error.errno not in _READER_GONE:
            raise OutputError(f"cannot write to standard output: {error.strerror}") from None


def say(*lines: str) -> None:
    """Writes lines to standard error, as far as it takes them."""
    show("".join(f"{plain(line)}\n" for line in lines))


def show(text: str) -> None:
    """Writes text to standard error as it is, as far as it takes it."""
    if sys.stderr is None:
        return
    try:
        sys.stderr.write(text)
        sys.stderr.flush()
    except OSError:
        _discard(sys.stderr)


def plain(text: str) -> str:
    """Text without anything that a terminal would obey, but for tabs and line feeds."""
    return text.translate(_SHOWN)


def one_line(text: str) -> str:
    """Text as `plain` shows it, without line feeds as well: one with a file's name in it says one thing."""
    return text.replace("\n", "\\x0a").translate(_SHOWN)


def bold(text: str, colour: bool) -> str:
    """Text to be seen first, where colours are welcome."""
    return f"\x1b[1m{text}\x1b[0m" if colour else text


def is_terminal() -> bool:
    """Whether somebody can be asked: input is read from a terminal, and errors are shown on one."""
    streams = (sys.stdin, sys.stderr)
    return all(stream is not None and stream.isatty() for stream in streams)


def is_shown() -> bool:
    """Whether standard output goes to a terminal."""
    return sys.stdout is not None and sys.stdout.isatty()


def has_colour(stream: TextIO | None) -> bool:
    """Whether colours are welcome on `stream`: on a terminal that can, unless `NO_COLOR` is set."""
    if stream is None or not stream.isatty():
        return False
    return not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"


def _encoded(text: str, stream: TextIO) -> bytes:
    """The bytes of `text` for `stream`; those of a path that is no valid text come back as they were."""
    encoding = stream.encoding or "utf-8"
    try:
        return text.encode(encoding, "surrogateescape")
    except UnicodeEncodeError:
        return text.encode(encoding, "backslashreplace")


def _discard(stream: TextIO) -> None:
    """Sends what is still to come nowhere, so that the flush at the interpreter's end cannot fail."""
    sink = os.open(os.devnull, os.O_WRONLY)
    os.dup2(sink, stream.fileno())
    os.close(sink)
