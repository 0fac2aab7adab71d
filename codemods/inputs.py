"""What a run looks at: paths, lists of paths, code on standard input, and one share of it all."""

from __future__ import annotations

import dataclasses
import errno
import os
import re
import sys
from collections.abc import Callable
from pathlib import Path
from typing import BinaryIO, Final

from codemods.model import LARGEST_NOTEBOOK

UNNAMED: Final = Path("<stdin>")

# A list of a million long paths.
_LARGEST_LIST: Final = 100_000_000

_ESCAPE: Final = re.compile(rb'\\(?:([0-7]{3})|([abtnvfr"\\]))')
_ESCAPED: Final = dict(zip(b'abtnvfr"\\', b'\a\b\t\n\v\f\r"\\', strict=True))


@dataclasses.dataclass(frozen=True, slots=True)
class Shard:
    """One of `count` shares of a project's files; `index` counts from 1."""

    index: int
    count: int

    @classmethod
    def parse(cls, text: str) -> Shard:
        """Reads `K/N`; raises `ValueError` where that is no share."""
        match = re.fullmatch(r"([0-9]{1,9})/([0-9]{1,9})", text)
        if match is None:
            raise ValueError(f"{text!r} is not of the form K/N.")
        shard = cls(int(match[1]), int(match[2]))
        if not 1 <= shard.index <= shard.count:
            raise ValueError(f"{text!r} is no share: K must be one of 1 to N.")
        return shard

    def of(self, root: str) -> Callable[[str], bool]:
        """Whether a file belongs to this share of the project at the real path `root`.

        Its path below `root` alone decides, so that every file is in exactly one share, whatever other
        files there are, and in the same one on every machine.
        """
        from hashlib import blake2b

        def holds(path: str) -> bool:
            below = os.path.relpath(os.path.realpath(path), root).replace(os.sep, "/")
            digest = blake2b(os.fsencode(below), digest_size=8).digest()
            return int.from_bytes(digest) % self.count == self.index - 1

        return holds


@dataclasses.dataclass(frozen=True, slots=True)
class Inputs:
    """What to look at.

    Attributes:
      paths: files and folders; the name of the code on standard input where that is looked at.
      code: what standard input holds; None where files are looked at.
      shard: the share of the files that this run is about; None for all.
    """

    paths: tuple[Path, ...]
    code: bytes | None = None
    shard: Shard | None = None


def read_list(data: bytes) -> list[Path]:
    r"""The paths in a list: each ends in a null byte if there is any, else in a line ending.

    A line in double quotes is taken as Git writes names with special characters, unless a file of
    that very name exists.
    """
    if b"\0" in data:
        names = data.split(b"\0")
    else:
        names = [_unquoted(line.removesuffix(b"\r")) for line in data.split(b"\n")]
    return [Path(os.fsdecode(name)) for name in names if name]


def _unquoted(line: bytes) -> bytes:
    if not (len(line) > 1 and line.startswith(b'"') and line.endswith(b'"')) or os.path.lexists(line):
        return line

    def character(match: re.Match[bytes]) -> bytes:
        octal, letter = match.groups()
        return bytes([int(octal, 8) & 0xFF if octal else _ESCAPED[letter[0]]])

    return _ESCAPE.sub(character, line[1:-1])


def read_code() -> bytes:
    """All of standard input, for a program; raises `OSError` where it cannot be read, or has no end."""
    return _bounded(_standard_input(), LARGEST_NOTEBOOK)


def read_paths(file: str | None) -> bytes:
    """All of a file, or of standard input, for a list of paths; raises `OSError` as `read_code` does."""
    if file is None:
        return _bounded(_standard_input(), _LARGEST_LIST)
    with open(file, "rb") as opened:
        return _bounded(opened, _LARGEST_LIST)


def _standard_input() -> BinaryIO:
    if sys.stdin is None:
        raise OSError("it is closed")
    return sys.stdin.buffer


def _bounded(stream: BinaryIO, most: int) -> bytes:
    """What a stream holds; raises `OSError` for more than `most` bytes, without reading on."""
    data = stream.read(most + 1)
    if len(data) > most:
        raise OSError(errno.EFBIG, f"it is larger than {most // 1_000_000} MB")
    return data
