"""Looks for words in files without holding all of them in memory."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterable, Iterator
from typing import Final

# Nearly every Python file fits into one piece; of a larger file, no more is in memory at a time.
_PIECE: Final = 1 << 18
# What is held of a whole project: a word is found several times faster there than in files read again.
_ROOM: Final = 128 << 20
_FLAGS: Final = os.O_RDONLY | getattr(os, "O_BINARY", 0)
# A word is spelled where nothing goes on with it and no letter comes right before it, but for one that ends
# an escape sequence of a string. Digits before it and what is no ASCII do not count: too much is found rather
# than too little.
_IN_WORDS: Final = frozenset(b"0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ_abcdefghijklmnopqrstuvwxyz")
_LETTERS: Final = _IN_WORDS - frozenset(b"0123456789")
_ESCAPE: Final = re.compile(rb"\\(?:[abfnrtv]|x[0-9A-Fa-f]{2}|u[0-9A-Fa-f]{4}|U[0-9A-Fa-f]{8})\Z")
_LONGEST_ESCAPE: Final = 10


def pieces(path: str, overlap: int) -> Iterator[bytes]:
    """The content of a file, in pieces of which each starts with the last `overlap` bytes of the one before.

    Raises:
      OSError: the file cannot be read.
      MemoryError: there is no room for a piece.
    """
    file = os.open(path, _FLAGS)
    try:
        piece = os.read(file, _PIECE)
        while piece:
            yield piece
            more = os.read(file, _PIECE)
            piece = piece[len(piece) - overlap :] + more if more else b""
    finally:
        os.close(file)


def contains(path: str, *texts: bytes) -> bool:
    """Whether a file contains one of `texts`; raises what `pieces` does."""
    return any(text in piece for piece in pieces(path, max(map(len, texts))) for text in texts)


class Contents:
    """The files at some paths. The first are held in memory, the others are read at each question."""

    def __init__(self, paths: Iterable[str], room: int = _ROOM) -> None:
        """Reads the files that are held: `room` is for how many bytes of them."""
        self._held: dict[str, bytes | None] = {}
        for path in paths:
            self._held[path] = held = _read_whole(path, room)
            room -= len(held or b"")

    def containing(self, text: bytes) -> list[str]:
        """The files that contain `text` anywhere."""
        return [
            path
            for path, held in self._held.items()
            if (
                text in held
                if held is not None
                else any(text in piece for piece in _pieces_read(path, len(text)))
            )
        ]

    def spelling(self, word: bytes) -> list[str]:
        """The files that may spell `word` as a name, in code or in a string, and not as part of one."""
        overlap = len(word) + _LONGEST_ESCAPE
        return [
            path
            for path, held in self._held.items()
            if (
                word in held and _is_spelled(word, held)
                if held is not None
                else any(_is_spelled(word, piece) for piece in _pieces_read(path, overlap))
            )
        ]

    def matching(self, has: Callable[[bytes], object], among: Iterable[str]) -> list[str]:
        """Those of some files whose content may pass a test; any too large to be read at once is one."""
        return [
            path
            for path in among
            if any(len(piece) >= _PIECE or has(piece) for piece in self._pieces(path, 0))
        ]

    def _pieces(self, path: str, overlap: int) -> Iterable[bytes]:
        """The content of a file; none of one that cannot be read, and so cannot be run from here either."""
        held = self._held[path]
        return (held,) if held is not None else _pieces_read(path, overlap)


def _read_whole(path: str, room: int) -> bytes | None:
    """The bytes of a file; None if it has more than `room`, or cannot be read."""
    try:
        with open(path, "rb", buffering=0) as file:
            return file.read() if os.fstat(file.fileno()).st_size <= room else None
    except (OSError, MemoryError):
        return None


def _pieces_read(path: str, overlap: int) -> Iterator[bytes]:
    try:
        yield from pieces(path, overlap)
    except (OSError, MemoryError):
        return


def _is_spelled(word: bytes, piece: bytes) -> bool:
    end = 0
    while (start := piece.find(word, end)) >= 0:
        end = start + len(word)
        goes_on = end < len(piece) and piece[end] in _IN_WORDS
        has_begun = start > 0 and piece[start - 1] in _LETTERS
        if not goes_on and not (
            has_begun and not _ESCAPE.search(piece, max(start - _LONGEST_ESCAPE, 0), start)
        ):
            return True
        end = start + 1
    return False
