"""How far a run is, as one line on a terminal that is there while the user waits, and gone at the end."""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from typing import Final, TextIO

_SECONDS_BEFORE: Final = 1.0
_SECONDS_BETWEEN: Final = 0.1
_BAR: Final = 24
_USUAL_COLUMNS: Final = 80  # where a terminal does not say


class Progress:
    """A line on `stream`, from when the run has taken a second; nothing if that is None.

    All methods but `analysed` are for one thread.
    """

    def __init__(self, stream: TextIO | None, clock: Callable[[], float] = time.monotonic) -> None:
        self._stream, self._clock = stream, clock
        self._next = clock() + _SECONDS_BEFORE
        self._shown = 0
        self._scanned = self._files = self._size = 0
        self._files_done = self._size_done = 0
        self._begun = 0.0

    @classmethod
    def on(cls, stream: TextIO | None) -> Progress:
        """On `stream` if somebody looks at it: a terminal that can go back on a line."""
        watched = stream is not None and stream.isatty() and os.environ.get("TERM") != "dumb"
        return cls(stream if watched and not os.environ.get("CI") else None)

    def __enter__(self) -> Progress:
        return self

    def __exit__(self, *_: object) -> None:
        self._show("")
        self._stream = None

    def scanned(self, count: int) -> None:
        """Files have been read, `count` in all, and it is not known how many are to come."""
        self._scanned = count
        self.tick()

    def analysing(self, files: int, size: int) -> None:
        """Files are going to be analysed, of `size` bytes all told."""
        self._files, self._size, self._begun = files, size, self._clock()
        self.tick()

    def analysed(self, size: int) -> None:
        """One more file of `size` bytes is done."""
        self._files_done += 1
        self._size_done += size

    def tick(self) -> None:
        """Time goes by: shows how far the run is, if that was not shown right before."""
        if self._stream is not None and (now := self._clock()) >= self._next:
            self._next = now + _SECONDS_BETWEEN
            self._show(self._line(now))

    def _line(self, now: float) -> str:
        if not self._files:
            return f"{self._scanned} files scanned"
        share = self._size_done / self._size if self._size else 0.0
        bar = "#" * int(share * _BAR)
        line = f"[{bar:.<{_BAR}}] {self._files_done} of {self._files} files analysed"
        if not self._size_done:
            return line
        return f"{line}, {_clock_time((now - self._begun) * (1 / share - 1))} left"

    def _show(self, line: str) -> None:
        """Puts `line` in the place of what is shown."""
        if self._stream is None or not (line or self._shown):
            return
        try:
            columns = os.get_terminal_size(self._stream.fileno()).columns or _USUAL_COLUMNS
            line = line[: columns - 1]
            blank = " " * (self._shown - len(line))
            self._stream.write(f"\r{line}{blank}" if line else f"\r{blank}\r")
            self._stream.flush()
            self._shown = len(line)
        except (OSError, ValueError):  # the terminal is gone
            self._stream = None


def _clock_time(seconds: float) -> str:
    """Minutes and seconds, with hours where there are any.

    >>> _clock_time(8.2), _clock_time(3725)
    ('0:09', '1:02:05')
    """
    whole = -int(-seconds // 1)
    hours, minutes = divmod(whole // 60, 60)
    return f"{hours}:{minutes:02}:{whole % 60:02}" if hours else f"{minutes}:{whole % 60:02}"
